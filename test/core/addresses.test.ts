import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  ADDRESS_OR_NETWORK,
  isLocalhostName,
  isLoopback,
  isThisMachine,
  toBlockList,
} from '../../lib/core/addresses.ts'

it.each([
  ['localhost', true, true, true],
  ['app.localhost', false, true, true],
  ['127.0.0.1', true, false, true],
  ['127.8.9.10', true, false, true],
  ['::1', true, false, true],
  ['[::1]', true, false, true],
  ['0.0.0.0', false, false, false],
  ['127.0.0.1.example.org', false, false, false],
  ['notlocalhost', false, false, false],
  ['192.168.0.1', false, false, false],
  ['', false, false, false],
])('detects for %j whether it is this machine', (host, loopback, name, machine) => {
  expect([isLoopback(host), isLocalhostName(host), isThisMachine(host)]).toEqual([loopback, name, machine])
})

it('makes a list of addresses and ranges', () => {
  const list = toBlockList(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '::1'])
  const inside = ['10.1.2.3', '192.0.2.1'].map((each) => list.check(each, 'ipv4'))
  expect([...inside, list.check('2001:db8::5', 'ipv6'), list.check('::1', 'ipv6')]).toEqual([true, true, true, true])
  expect([list.check('192.0.2.2', 'ipv4'), list.check('::2', 'ipv6')]).toEqual([false, false])
})

describe('the pattern of an address or a network', () => {
  const GROUPS = ['0', '00a', 'Ff00', '12345', 'g', '']
  const NUMBERS = ['0', '9', '10', '99', '100', '199', '255', '256', '00', '01', '']
  const texts = [
    ...NUMBERS.flatMap((a) =>
      NUMBERS.flatMap((b) => [`${a}.${b}`, `1.${a}.${b}.4`, `${a}.2.3.${b}.5`, `${a}.2.3.${b}`]),
    ),
    ...GROUPS.flatMap((group) =>
      Array.from({ length: 10 }, (_, n) => Array(n).fill(group).join(':')).flatMap((run) =>
        Array.from({ length: 9 }, (_, n) => Array(n).fill('b').join(':')).flatMap((rest) =>
          ['', ':', '::', ':::'].map((between) => run + between + rest),
        ),
      ),
    ),
  ]

  it('is of the addresses of Node, without zones and without an IPv4 address in one of IPv6', () => {
    const addresses = texts.filter((text) => isIP(text) !== 0)
    expect(addresses.length).toBeGreaterThan(200)
    expect(texts.filter((text) => ADDRESS_OR_NETWORK.test(text))).toEqual(addresses)
    for (const text of ['fe80::1%eth0', '::ffff:192.0.2.1', '192.0.2.1\n', '::1 '])
      expect(text).not.toMatch(ADDRESS_OR_NETWORK)
  })

  it('has networks of IPv6 only', () => {
    for (const text of ['2001:db8:1:2::/64', '::/64']) expect(text).toMatch(ADDRESS_OR_NETWORK)
    for (const text of ['192.0.2.1/64', '::1/32', '/64']) expect(text).not.toMatch(ADDRESS_OR_NETWORK)
  })
})
