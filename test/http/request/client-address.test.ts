import { beforeAll, describe, expect, it } from 'vitest'
import { createChatApp } from '../../../lib/http/app.ts'
import { createAddressReader, toAddress } from '../../../lib/http/request/client-address.ts'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, startService } from '../../support/service.ts'

const PEER = '10.0.0.1'
const CLIENT = '203.0.113.9'

/** The header of a client as its proxy at 10.0.0.1 passes it on, with the client's address appended. */
const FORGED: [shape: string, sent: string][] = [
  ['nothing', ''],
  ['an address', '1.2.3.4'],
  ['several addresses', '1.2.3.4, 5.6.7.8, 9.10.11.12'],
  ['an address of ours', '10.0.0.7'],
  ['the proxy itself', '10.0.0.1'],
  ['a loopback address', '127.0.0.1'],
  ['an IPv6 address', '2001:db8::1'],
  ['an IPv6 address in brackets', '[2001:db8::1]'],
  ['an IPv6 address with a port', '[2001:db8::1]:443'],
  ['an IPv4 address with a port', '1.2.3.4:443'],
  ['an IPv4 address in IPv6', '::ffff:10.0.0.7'],
  ['unknown', 'unknown'],
  ['an obfuscated name', '_hidden'],
  ['junk', '\'"><script>, ;;;, %00'],
  ['numbers that are no address', '999.1.1.1, 1.2.3, 012.1.1.1, 0x7f.1'],
  ['a range', '10.0.0.0/8'],
  ['commas only', ',,, ,'],
  ['a very long list', Array(5000).fill('10.0.0.7').join(', ')],
  ['a zone', 'fe80::1%eth0'],
  ['a header of another kind', 'for=1.2.3.4;proto=https'],
]

describe('the address of a client', () => {
  it.each(FORGED)('cannot be forged with %s, whatever proxies are in between', (_, sent) => {
    const passedOn = sent ? `${sent}, ${CLIENT}` : CLIENT
    const none = createAddressReader([])
    expect(none(CLIENT, sent)).toBe(CLIENT)
    expect(none(PEER, passedOn)).toBe(PEER)
    const behind = createAddressReader(['10.0.0.0/8', '2001:db8::/32'])
    expect(behind(CLIENT, sent)).toBe(CLIENT)
    expect(behind(PEER, passedOn)).toBe(CLIENT)
    expect(behind(`::ffff:${PEER}`, passedOn)).toBe(CLIENT)
    expect(behind('2001:db8::5', `${passedOn}, ${PEER}`)).toBe(CLIENT)
    expect(behind('2001:db9::5', passedOn)).toBe('2001:db9::5')
  })

  it.each([
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2a00::0001]:51234', '2a00::1'],
    ['[2A00::1]', '2a00::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['203.0.113.9, 10.1.1.1, 10.2.2.2', '203.0.113.9'],
    ['8.8.8.8, 203.0.113.9 , 10.2.2.2', '203.0.113.9'],
    // All addresses are trusted: the first one is the client.
    ['10.3.3.3, 10.2.2.2', '10.3.3.3'],
    // A trusted proxy appended an invalid address, so the last valid one counts.
    ['203.0.113.9, unknown', PEER],
    ['203.0.113.9, unknown, 10.2.2.2', '10.2.2.2'],
    ['', PEER],
  ])('behind a proxy that sends %j is %j', (header, address) => {
    expect(createAddressReader(['10.0.0.0/8'])(PEER, header)).toBe(address)
  })

  it.each([
    [undefined, undefined],
    ['', undefined],
    ['fe80::1%eth0', 'fe80::1'],
    ['::FFFF:127.0.0.1', '127.0.0.1'],
    ['1.2.3.4', '1.2.3.4'],
    ['localhost', undefined],
  ])('%j is written as %j', (text, address) => {
    expect(toAddress(text ?? '')).toBe(address)
  })
})

it.each([
  'localhost',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0/8',
  '::1/129',
  'fe80::1%eth0',
  '*',
  '',
  '10.0.0.0/8/8',
  ' ::1',
])('a configuration that trusts %j stops the start, and names the key', (range) => {
  expect(() => parseConfig({ server: { trusted_proxies: ['127.0.0.1', range] } })).toThrow(
    /^server\.trusted_proxies: must be a list of addresses and ranges/,
  )
})

describe.each([
  ['without a trusted proxy', [], '127.0.0.1'],
  ['behind a trusted proxy', ['127.0.0.0/8'], CLIENT],
])('%s', (_, trusted_proxies, expected) => {
  const service = setUpService(() => startService('sqlite::memory:', { config: { server: { trusted_proxies } } }))
  beforeAll(async () => {
    await service.signIn('ada')
  })

  it('a sign-in is audited with its client address', async () => {
    const response = await fetch(`${service.base_url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `6.6.6.6, ${CLIENT}` },
      body: JSON.stringify({ email: 'nobody@example.org', password: 'wrong password' }),
    })
    expect(response.status).toBe(401)
    const { db } = innerState(service)
    const row = await db.get(sql`SELECT ip FROM audit_log WHERE act = 'login.failed' ORDER BY id DESC LIMIT 1`)
    expect(row).toEqual({ ip: expected })
  })
})

it('over fetch is the address that the host provides; without one all callers share a limit, with one warning', async () => {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
  const config = parseConfig({
    rate_limits: { auth_login_per_ip_per_min: 2 },
    server: { trusted_proxies: ['10.0.0.0/8'] },
    security: { password: { bcrypt_cost: 4 } },
  })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }), { log })
  await chat.start()
  const signIn = (ip?: string, forwarded?: string) =>
    Object.assign(
      new Request('http://chat.example/api/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(forwarded && { 'x-forwarded-for': forwarded }) },
        body: JSON.stringify({ email: 'nobody@example.org', password: 'not the password' }),
      }),
      ip !== undefined && { ip },
    )
  const statuses = async (app: ReturnType<typeof createChatApp>, requests: Request[]) => {
    const found: number[] = []
    for (const request of requests) found.push((await app.fetch(request)).status)
    return found
  }
  const plain = createChatApp(chat)
  expect(await statuses(plain, [signIn('192.0.2.1'), signIn('192.0.2.1'), signIn('192.0.2.1')])).toEqual([
    401, 401, 429,
  ])
  expect(warnings).toEqual([])
  expect(await statuses(plain, [signIn(), signIn(undefined, '192.0.2.7'), signIn('no address')])).toEqual([
    401, 401, 429,
  ])
  expect(warnings).toEqual([expect.stringMatching(/^A request came without an address/)])

  const told = createChatApp(chat, { addressOf: (request) => request.headers.get('x-real-ip') ?? '10.0.0.1' })
  const from = (address: string) => signIn(undefined, address)
  expect(await statuses(told, [from('192.0.2.2'), from('192.0.2.3'), from('192.0.2.2'), from('192.0.2.2')])).toEqual([
    401, 401, 401, 429,
  ])
  expect(warnings).toHaveLength(1)
  const acts = await innerState(chat).db.all(
    sql`SELECT DISTINCT ip FROM audit_log WHERE act = 'login.failed' ORDER BY ip`,
  )
  expect(acts).toEqual(expect.arrayContaining([{ ip: null }, { ip: '192.0.2.1' }, { ip: '192.0.2.2' }]))
  await chat.close()
})
