import { randomBytes, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { readToken, signToken, TOKENS, type TokenClaims } from '../../../lib/accounts/tokens/rules.ts'
import { hasScope, SCOPES, type Scope } from '../../../lib/core/actor.ts'
import { deriveKey } from '../../../lib/core/signed-text.ts'
import { LINKS } from '../../../lib/files/tokens.ts'

const secret = randomBytes(32)
const key = deriveKey(secret, TOKENS)
const CLAIMS: TokenClaims = { user_id: randomUUID(), scopes: ['read', 'write'], issued_at: 1, expires_at: 2 }

it.each<[string, TokenClaims]>([
  ['a session', { ...CLAIMS, session_id: randomUUID() }],
  ['an API key', { ...CLAIMS, scopes: ['stream'], key_id: randomUUID() }],
  ['a login of the host', CLAIMS],
  ['another token', { ...CLAIMS, until: 3 }],
])('a token made with %s is read as it was made', (_, claims) => {
  const token = signToken([key], claims)
  expect(token).toMatch(/^ct_[\w-]+\.[\w-]{43}$/)
  expect(readToken([key], token)).toEqual(claims)
})

it('a token of another key, and one with another character, is none', () => {
  const token = signToken([key], CLAIMS)
  expect(readToken([deriveKey(randomBytes(32), TOKENS)], token)).toBeUndefined()
  expect(readToken([deriveKey(secret, LINKS)], token)).toBeUndefined()
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A'
    expect(readToken([key], token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined()
  }
  for (const other of ['', 'ct_', token.slice(3), `${token}A`, `${token}${'A'.repeat(1000)}`])
    expect(readToken([key], other)).toBeUndefined()
})

it('a scope contains those that allow less, and an unknown one allows nothing', () => {
  const allowed = (scope: Scope) => SCOPES.filter((needed) => hasScope({ scopes: [scope] }, needed))
  expect(allowed('write')).toEqual(['write', 'read', 'stream'])
  expect(allowed('read')).toEqual(['read', 'stream'])
  expect(allowed('stream')).toEqual(['stream'])
  expect(allowed('all' as Scope)).toEqual([])
  expect(hasScope({}, 'write')).toBe(true)
})
