import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keyIdOf, openText, type SealingKey, sealText } from '../../lib/core/sealed-text.ts'

const createKey = (id: string): SealingKey => ({ id, key: randomBytes(32) })
const key = createKey('one-key_')

it('opens what it sealed, and seals the same text differently each time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const sealed = sealText(key, text, 'webhooks 1')
      return openText(key, sealed, 'webhooks 1') === text && keyIdOf(sealed) === key.id
    }),
  )
  expect(sealText(key, 'text', 'a')).not.toBe(sealText(key, 'text', 'a'))
  expect(sealText(key, 'hunter2', 'a')).not.toContain(Buffer.from('hunter2').toString('base64url'))
})

it('opens nothing with another key or name, elsewhere, or with a changed character', () => {
  const sealed = sealText(key, 'text', 'webhooks 1')
  expect(openText(createKey(key.id), sealed, 'webhooks 1')).toBeUndefined()
  expect(openText({ ...key, id: 'two-keys' }, sealed, 'webhooks 1')).toBeUndefined()
  expect(openText(key, sealed, 'webhooks 2')).toBeUndefined()
  const renamed = sealed.replace(key.id, 'two-keys')
  expect(openText({ ...key, id: 'two-keys' }, renamed, 'webhooks 1')).toBeUndefined()
  const first = 'v1.one-key_.'.length
  for (let at = first; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'Q' : 'A'
    expect(openText(key, sealed.slice(0, at) + other + sealed.slice(at + 1), 'webhooks 1')).toBeUndefined()
  }
  for (let length = 0; length < sealed.length; length++)
    expect(openText(key, sealed.slice(0, length), 'webhooks 1')).toBeUndefined()
})

it('takes any text for what it is', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => openText(key, text, '') === undefined))
  expect(['', 'v1', 'v2.one-key_.AAAA', 'v1.short.AAAA', 'v1.one-key_.'].map(keyIdOf)).toEqual([
    ...[undefined, undefined, undefined, undefined, undefined],
  ])
})
