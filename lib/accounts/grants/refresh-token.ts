import { digest, newToken } from '../../core/ids.ts'

/** What refresh tokens begin with: they are taken at the token endpoint alone. */
const PREFIX = 'cor_'

/** A refresh token as its client has it, with the digests that are stored. All tokens of a grant have the same first half. */
export interface Refresh {
  token: string
  family_hash: string
  hash: string
}

const REFRESH = new RegExp(`^${PREFIX}([\\w-]{43})([\\w-]{43})$`)

/** @param before one of the grant. Without it, another family begins */
export function newRefresh(before?: string): Refresh {
  const family = before === undefined ? newToken() : REFRESH.exec(before)![1]!
  return toRefresh(PREFIX + family + newToken())!
}

/** @returns `undefined` for a text that is no refresh token */
export function toRefresh(token: string): Refresh | undefined {
  const [, family, own] = REFRESH.exec(token) ?? []
  if (family === undefined || own === undefined) return undefined
  return { token, family_hash: digest(family), hash: digest(own) }
}
