import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deriveKey } from '../../lib/core/signed-text.ts'
import { LINKS, type LinkClaims, readLink, signLink } from '../../lib/files/tokens.ts'

const secret = randomBytes(32)
const key = deriveKey(secret, LINKS)
const CLAIMS: LinkClaims = {
  id: randomUUID(),
  user_id: randomUUID(),
  session_id: randomUUID(),
  inline: true,
  expires_at: 1_000,
}

it.each<[string, LinkClaims]>([
  ['a session', CLAIMS],
  ['an API key', { id: CLAIMS.id, user_id: CLAIMS.user_id, key_id: randomUUID(), inline: false, expires_at: 1_000 }],
  ['a sign-in of the host', { id: CLAIMS.id, user_id: CLAIMS.user_id, inline: false, expires_at: 1_000 }],
])('a link of %s is read again until it is over', (_, claims) => {
  const token = signLink([key], claims)
  expect(token).toMatch(/^[\w.-]+$/)
  expect(readLink([key], token, 999)).toEqual(claims)
  expect(readLink([key], token, 1_000)).toBeUndefined()
})

it('a link of another secret is no link, and the secret is not the key', () => {
  expect(readLink([deriveKey(randomBytes(32), LINKS)], signLink([key], CLAIMS), 0)).toBeUndefined()
  expect(readLink([key], signLink([secret], CLAIMS), 0)).toBeUndefined()
  expect(deriveKey(secret, LINKS)).toEqual(key)
})

it('a link with any other character is no link', () => {
  const token = signLink([key], CLAIMS)
  const others = [...'ABCabc019_-.~ ']
  for (let at = 0; at < token.length; at++)
    for (const other of others)
      if (token[at] !== other)
        expect(readLink([key], token.slice(0, at) + other + token.slice(at + 1), 0)).toBeUndefined()
  for (const other of ['', '.', `${token}A`, `${token}.`, token.slice(0, -1), `${token}${'A'.repeat(1000)}`])
    expect(readLink([key], other, 0)).toBeUndefined()
})

it('any text is no link', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => readLink([key], text, 0) === undefined))
})
