import { MCP_SCOPES, type McpScope } from '../../core/actor.ts'
import { DAY, SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'

/** What access tokens begin with: they are taken on `/mcp` alone. */
export const ACCESS_PREFIX = 'co_'

/** How long a code is valid. */
export const CODE_SECONDS = 60

/** The most grants of a user: the least used goes when there is another. */
export const MAX_GRANTS = 50

/** How long a refresh token that was replaced gives others, and how often: processes of a client may refresh at once. */
const GRACE = 120 * SECOND
const MAX_REUSES = 10

/** The most tokens of each kind that a grant has: the oldest goes when there is another. */
export const MAX_TOKENS = 32

/** A refresh token of a grant, as it is stored: only a digest. */
export interface StoredRefresh {
  hash: string
  /** Since when there is another one in its place. */
  replaced_at?: Micros
  /** How often it was used since. */
  reuses?: number
}

/**
 * The tokens of a grant after one of them was used and another one made. One that was replaced gives others for a short time,
 * since several processes of a client may use it at once; later it was copied, or its client has lost its place.
 *
 * @returns `undefined` for one that was replaced before
 */
export function replaceRefresh(
  tokens: readonly StoredRefresh[],
  used: string,
  next: string,
  now: Micros,
): StoredRefresh[] | undefined {
  // A clock that was set back makes no token older than it is.
  const isGone = ({ replaced_at }: StoredRefresh) => replaced_at !== undefined && now - replaced_at > GRACE
  const left = tokens.filter((each) => !isGone(each))
  const token = left.find(({ hash }) => hash === used)
  if (!token || (token.reuses ?? 0) >= MAX_REUSES) return undefined
  const after: StoredRefresh =
    token.replaced_at === undefined ? { ...token, replaced_at: now } : { ...token, reuses: (token.reuses ?? 0) + 1 }
  return [...left.map((each) => (each === token ? after : each)), { hash: next }].slice(-MAX_TOKENS)
}

/** Stored refresh tokens as a list. */
export function parseRefresh({ refresh_tokens }: { refresh_tokens: string }): StoredRefresh[] {
  return JSON.parse(refresh_tokens) as StoredRefresh[]
}

/** How long grants last, in days. */
interface Lives {
  refresh_days: number
  grant_days: number
}

/** When a grant ends unless it is used before. */
export function endOf(
  { created_at, last_used_at }: { created_at: Micros; last_used_at: Micros },
  { refresh_days, grant_days }: Lives,
): Micros {
  return Math.min(created_at + grant_days * DAY, last_used_at + refresh_days * DAY)
}

/** The scopes in a text, each once; unknown ones are left out. */
export function toScopes(text: string): McpScope[] {
  const words = new Set(text.split(' '))
  return MCP_SCOPES.filter((scope) => words.has(scope))
}

/** Whether a text may be the verifier of a challenge (RFC 7636, section 4.1). */
export function isVerifier(text: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(text)
}
