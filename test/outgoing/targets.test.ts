import { expect, it } from 'vitest'
import { createJudge, toTarget, type UrlRules } from '../../lib/outgoing/targets.ts'

const judge = createJudge([])

/** The first and the last address of each refused range of IPv4, and the neighbours that are public. */
const RANGES_V4: [range: string, first: string, last: string, ...outside: string[]][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/3', '224.0.0.0', '255.255.255.255', '223.255.255.255'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
]

it.each(RANGES_V4)('refuses %s from %s to %s, also inside IPv6', (_range, first, last, ...outside) => {
  for (const wrap of [(v4: string) => v4, (v4: string) => `::ffff:${v4}`, (v4: string) => `64:ff9b::${v4}`]) {
    expect([first, last].map(wrap).map(judge)).toEqual([false, false])
    expect(outside.map(wrap).map(judge)).toEqual(outside.map(() => true))
  }
})

it.each([
  ...['::', '::1', '::7f00:1', '::127.0.0.1', '::ffff:0:7f00:1', '64:ff9b:1::1', '64:ff9b::1:7f00:1', '100::1'],
  ...['1fff:ffff::', '4000::', '5f00::1', 'fc00::1', 'fdff:ffff::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
  ...['2001::', '2001::1', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db8::', '2001:db8:ffff::1', '2002::1'],
  ...['2002:7f00:1::', '2002:ffff:ffff::', '3fff::', '3fff:fff:ffff::1', '2600::1%1', 'example.org', ''],
])('refuses %s', (address) => {
  expect(judge(address)).toBe(false)
})

it.each([
  ...['2000::', '2000::1', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2003::', '2606:4700::1111', '2a00:1450::'],
  ...['3ffe:ffff::1', '3fff:1000::', '3fff:ffff::', '2620:4f:8000::1', '8.8.8.8', '1.1.1.1'],
])('lets %s be called', (address) => {
  expect(judge(address)).toBe(true)
})

it('calls the networks that the operator opened, however their addresses are written', () => {
  const opened = createJudge(['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1'])
  const addresses = ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203', '64:ff9b::10.1.2.3', 'fd00:1::5', '127.0.0.1']
  expect(addresses.map(opened)).toEqual(addresses.map(() => true))
  expect(['10.2.0.1', '127.0.0.2', 'fd00:2::1', '::1', '::ffff:10.2.0.1'].map(opened)).not.toContain(true)
})

const RULES: UrlRules = { allow_http: false, ports: [443], judge, own_url: 'https://chat.example.org/chat' }
const isTaken = (url: string, rules: Partial<UrlRules> = {}) => toTarget(url, { ...RULES, ...rules }) !== undefined

it.each([
  // 127.0.0.1 and others of this machine, in each way of writing them
  ...['https://127.0.0.1/', 'https://127.1/', 'https://127.0.1/', 'https://2130706433/', 'https://0x7f000001/'],
  ...['https://0x7f.1/', 'https://0177.0.0.1/', 'https://017700000001/', 'https://127.0.0.1./', 'https://0/'],
  ...['https://0x7F.0x0.0x0.0x1/', 'https://１２７.０.０.１/', 'https://127。0。0。1/', 'https://%31%32%37.0.0.1/'],
  ...['https://[::1]/', 'https://[0:0:0:0:0:0:0:1]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/'],
  ...[
    'https://[0:0:0:0:0:FFFF:7F00:0001]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[::]/',
  ],
  ...['https://localhost/', 'https://LOCALHOST/', 'https://localhost./', 'https://a.localhost/', 'https://ｌocalhost/'],
  ...['https://169.254.169.254/latest/meta-data', 'https://[fd00:ec2::254]/', 'https://168.63.129.16/'],
  ...['https://192.168.1.1/', 'https://3232235777/', 'https://[fe80::1]/', 'https://[fe80::1%25eth0]/'],
  // no address of a service
  ...['http://example.org/', 'ftp://example.org/', 'https:example.org', 'https:/example.org', 'https:///example.org'],
  ...['https:\\\\example.org', 'https://example.org\\@127.0.0.1/', '//example.org', 'example.org', '', 'https://'],
  ...['https://a@example.org/', 'https://a:b@example.org/', 'https://@example.org/', 'https://:@example.org/'],
  ...['https://example.org/#', 'https://example.org/#a', ' https://example.org/', 'https://example.org/ a'],
  ...['https://exa\tmple.org/', 'https://example.org/\n', 'https://example.org:80/', 'https://example.org:8443/'],
  ...['https://exa mple.org/', 'https://example.org:65536/', 'https://exam<ple.org/', 'https://./'],
  `https://example.org/${'a'.repeat(2048)}`,
  // this service
  ...['https://chat.example.org/chat', 'https://chat.example.org/chat/api/x', 'https://CHAT.example.org:443/chat?a'],
  ...['https://chat.example.org./chat', 'https://chat.example.org/x/../chat/', 'https://chat.example.org/%2e/chat'],
])('takes no %s', (url) => {
  expect(isTaken(url)).toBe(false)
})

it.each([
  ...['https://example.org', 'HTTPS://example.org/', 'https://example.org./', 'https://example.org:443/a?b=c@d'],
  ...['https://8.8.8.8/', 'https://[2606:4700::1111]/', 'https://no-such-name.invalid/hook', 'https://例え.jp/'],
  ...['https://chat.example.org/', 'https://chat.example.org/chatter', 'https://other.example.org/chat'],
  `https://example.org/${'a'.repeat(2028)}`,
])('takes %s', (url) => {
  expect(isTaken(url)).toBe(true)
})

it('takes what the configuration opened: http, other ports, and networks', () => {
  const opened: Partial<UrlRules> = { allow_http: true, ports: [80, 8443], judge: createJudge(['127.0.0.0/8']) }
  const urls = ['http://example.org/', 'https://example.org:8443/', 'http://127.0.0.1/', 'http://localhost/']
  expect(urls.map((url) => isTaken(url, opened))).toEqual([true, true, true, true])
  expect(isTaken('https://example.org/', opened)).toBe(false)
  expect(isTaken('http://[::1]/', opened)).toBe(false)
  expect(isTaken('https://example.org:1/', { ports: undefined })).toBe(true)
})

it('takes every path of the own host when it is not known to be one, and none when the service has all of it', () => {
  expect(isTaken('https://chat.example.org/chat', { own_url: undefined })).toBe(true)
  // DNS takes a name with a dot at its end; so many of them are taken away.
  for (const dots of ['.', '..', '...']) {
    expect(isTaken(`https://chat.example.org${dots}/chat`)).toBe(false)
    expect(isTaken(`https://localhost${dots}/`)).toBe(false)
  }
  expect(isTaken('https://example.org:0/')).toBe(false)
  expect(isTaken('https://chat.example.org/x', { own_url: 'https://chat.example.org' })).toBe(false)
  expect(isTaken('https://chat.example.org/x', { own_url: 'https://chat.example.org:8443' })).toBe(true)
})

it('keeps what a request needs of a URL', () => {
  expect(toTarget('https://Example.ORG.:443/a b?c=d'.replace(' ', '%20'), RULES)).toEqual({
    ...{ host: 'example.org', port: 443, is_secure: true, authority: 'example.org.', path: '/a%20b?c=d' },
  })
  expect(toTarget('https://[2606:4700::1111]:8443', { ...RULES, ports: [8443] })).toMatchObject({
    ...{ host: '2606:4700::1111', authority: '[2606:4700::1111]:8443', path: '/' },
  })
})
