import { expect, it } from 'vitest'
import { isLocalhostName, isLoopback, isThisMachine, toBlockList } from '../../lib/core/addresses.ts'

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
