import fc from 'fast-check'
import { expect, it } from 'vitest'
import { newRefresh, toRefresh } from '../../../lib/accounts/grants/refresh-token.ts'
import {
  endOf,
  isVerifier,
  MAX_TOKENS,
  replaceRefresh,
  type StoredRefresh,
  toScopes,
} from '../../../lib/accounts/grants/rules.ts'
import { DAY, SECOND } from '../../../lib/core/units.ts'

it('refresh tokens of a grant have a family in common, and nothing else', () => {
  const first = newRefresh()
  const next = newRefresh(first.token)
  expect(next.family_hash).toBe(first.family_hash)
  expect(next.hash).not.toBe(first.hash)
  expect(toRefresh(next.token)).toEqual(next)
  expect(newRefresh().family_hash).not.toBe(first.family_hash)
  for (const text of ['', 'cor_', `${first.token}x`, first.token.slice(0, -1), `co_${first.token}`])
    expect(toRefresh(text)).toBeUndefined()
})

it('a token is replaced once, gives others ten times within two minutes, and then no more', () => {
  const one: StoredRefresh[] = [{ hash: 'a' }]
  const two = replaceRefresh(one, 'a', 'b', 0)!
  expect(two).toEqual([{ hash: 'a', replaced_at: 0 }, { hash: 'b' }])
  let tokens = two
  for (let use = 1; use <= 10; use++) tokens = replaceRefresh(tokens, 'a', `c${use}`, 120 * SECOND)!
  expect(tokens).toHaveLength(12)
  expect(replaceRefresh(tokens, 'a', 'd', 120 * SECOND)).toBeUndefined()
  expect(replaceRefresh(two, 'a', 'd', 120 * SECOND + 1)).toBeUndefined()
  expect(replaceRefresh(two, 'x', 'd', 1)).toBeUndefined()
  // Each of the others goes on by itself.
  expect(replaceRefresh(tokens, 'c3', 'e', 500 * SECOND)!.map(({ hash }) => hash)).not.toContain('a')
})

it('a clock that is set back makes no token older than it is', () => {
  const tokens = replaceRefresh([{ hash: 'a' }], 'a', 'b', 500 * SECOND)!
  expect(replaceRefresh(tokens, 'a', 'c', 0)).toHaveLength(3)
})

it('whatever a client does, the newest token works, and there is a bound', () => {
  const step = fc.record({ pick: fc.nat(), pause: fc.integer({ min: 0, max: 300 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let tokens: StoredRefresh[] = [{ hash: '0' }]
      let now = 0
      let made = 0
      for (const { pick, pause } of steps) {
        now += pause * SECOND
        const known = Array.from({ length: made + 1 }, (_, n) => String(n))
        const next = replaceRefresh(tokens, known[pick % known.length]!, String(made + 1), now)
        if (!next) continue
        tokens = next
        made += 1
        expect(tokens.length).toBeLessThanOrEqual(MAX_TOKENS)
        expect(replaceRefresh(tokens, String(made), 'next', now + 400 * SECOND)).toBeDefined()
      }
    }),
  )
})

it('a grant ends a month after its last use, and a year after its first', () => {
  const lives = { refresh_days: 30, grant_days: 365 }
  expect(endOf({ created_at: 0, last_used_at: DAY }, lives)).toBe(31 * DAY)
  expect(endOf({ created_at: 0, last_used_at: 360 * DAY }, lives)).toBe(365 * DAY)
})

it('unknown scopes are left out', () => {
  expect(toScopes('chat:ask openid chat:read chat:ask')).toEqual(['chat:read', 'chat:ask'])
  expect(toScopes('')).toEqual([])
})

it('a verifier has the form of its standard', () => {
  expect(isVerifier('a'.repeat(43))).toBe(true)
  for (const text of ['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(43)} `, `${'a'.repeat(43)}ä`])
    expect(isVerifier(text)).toBe(false)
})
