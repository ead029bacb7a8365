import { expect, it } from 'vitest'
import { hostBehind, safeHref } from '../../../examples/web-chat/src/markdown/links.ts'

it.each([
  ['https://bank.example', 'https://evil.example/', 'evil.example'],
  ['Sign in at bank.example!', 'https://evil.example:8443/a', 'evil.example:8443'],
  ['BANK.example/login', 'https://evil.example/', 'evil.example'],
  ['https://bank.example@evil.example/', 'https://bank.example@evil.example/', 'evil.example'],
  ['ba\u00adnk.exam\u200bple', 'https://evil.example/', 'evil.example'],
  ['bank。example', 'https://evil.example/', 'evil.example'],
  ['192.0.2.1', 'https://evil.example/', 'evil.example'],
  ['bank.example', 'https://192.0.2.1/', '192.0.2.1'],
  ['bänk.example', 'https://bank.example/', 'bank.example'],
  ['bank.example', 'https://bänk.example/', 'xn--bnk-qla.example'],
  ['ada@bank.example', 'mailto:ada@evil.example', 'evil.example'],
])('shows where a link leads whose text is %j', (text, href, host) => {
  expect(hostBehind(safeHref(href)!, text)).toBe(host)
})

it.each([
  ['here', 'https://one.example/'],
  ['https://one.example/?to=two.example', 'https://one.example/?to=two.example'],
  ['One.example, version 1.2', 'https://www.one.example/'],
  ['version 1.2 of v1.2.3', 'https://one.example/'],
  ['bänk.example', 'https://bänk.example/'],
  ['ada@one.example', 'mailto:ada@one.example'],
  ['and so on...', 'https://one.example/'],
  ['', 'https://one.example/'],
])('adds nothing to a link whose text is %j', (text, href) => {
  expect(hostBehind(safeHref(href)!, text)).toBeUndefined()
})

it.each(['a'.repeat(60_000), 'a.'.repeat(30_000), `${'.-'.repeat(30_000)}a`])(
  'looks through a long text that names no host (case %#)',
  (text) => expect(hostBehind('https://one.example/', text)).toBeUndefined(),
)
