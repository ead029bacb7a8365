import { describe, expect, it } from 'vitest'
import { smtpSettings } from '../../lib/config/mail.ts'
import { parseConfig } from '../../lib/index.ts'
import { isMailable, reasonText, waitSeconds } from '../../lib/mail/rules.ts'
import { fillIn } from '../../lib/mail/texts.ts'

describe('the pause after a failed try', () => {
  it.each([
    [1, 30],
    [2, 60],
    [10, 14_400],
    [11, 14_400],
    [12, undefined],
  ])('after %i tries: %s seconds', (tries, seconds) => {
    expect(waitSeconds(tries, 0)).toBe(seconds)
  })

  it('ends with the first day', () => {
    expect(waitSeconds(2, 86_300)).toBe(60)
    expect(waitSeconds(2, 86_350)).toBeUndefined()
  })
})

it.each([
  ['ada@example.org', true],
  ['ä.lovelace+chat@exämple.org', true],
  ['ada@example.org\r\nBcc: eve@example.org', false],
  ['ada@example.org,eve@example.org', false],
  ['Ada <ada@example.org>', false],
  ['"a b"@example.org', false],
  ['no address', false],
])('whether mail can be sent to %j: %s', (address, expected) => {
  expect(isMailable(address)).toBe(expected)
})

it('fills in a text in one pass, and keeps a subject on one line', () => {
  const values = { username: '{link}\r\nBcc: eve@example.org', link: 'https://x.example' }
  const filled = fillIn({ subject: 'For {username}', text: '{username} {link} {other}' }, values)
  expect(filled.subject).toBe('For {link} Bcc: eve@example.org')
  expect(filled.text).toBe('{link}\r\nBcc: eve@example.org https://x.example {other}')
})

it('keeps a reason short, on one line and without secrets', () => {
  const reason = reasonText(new Error(`550 ada@example.org\n${'x'.repeat(1000)}`), ['ada@example.org'])
  expect(reason).toMatch(/^550 \[hidden\] x+$/)
  expect(reason).toHaveLength(300)
})

describe('mail.smtp', () => {
  const settingsOf = (url: string) => smtpSettings(parseConfig({ mail: { smtp: { url, from: 'a@example.org' } } }))
  it.each([
    ['smtp://mail.example.org', { host: 'mail.example.org', port: 587, secure: false }],
    ['smtps://mail.example.org', { port: 465, secure: true }],
    ['smtp://u%40x:p%3A%40@[::1]:2525', { host: '::1', port: 2525, user: 'u@x', password: 'p:@' }],
  ])('%s', (url, expected) => {
    expect(settingsOf(url)).toMatchObject(expected)
  })

  it.each([
    'mail.example.org',
    'http://mail.example.org',
    'smtp://',
    'smtp://mail.example.org/path',
    'smtp://mail.example.org?tls=no',
    'smtp://u:%zz@mail.example.org',
    'smtp://:p@mail.example.org',
  ])('refuses %s', (url) => {
    expect(() => settingsOf(url)).toThrow(/mail\.smtp\.url/)
  })

  it.each(['nobody', 'a@b@c', 'Chat\r\nBcc: x@y.z <a@example.org>', 'Chat <a@example.org>\n'])(
    'refuses the sender %j',
    (from) => {
      expect(() => parseConfig({ mail: { smtp: { url: 'smtp://localhost', from } } })).toThrow(/mail\.smtp\.from/)
    },
  )

  it('needs a sender and a server', () => {
    expect(() => parseConfig({ mail: { smtp: { url: 'smtp://localhost' } } })).toThrow(/mail\.smtp\.from: must be set/)
    expect(() => parseConfig({ mail: { smtp: { from: 'a@example.org' } } })).toThrow(/mail\.smtp\.url: must be set/)
  })
})
