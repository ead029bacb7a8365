import { mcpUrlOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { digest, newToken, sameDigest } from '../../core/ids.ts'
import { DAY, SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { notify } from '../mails/notices.ts'
import { authenticateClient, type ClientProof } from '../oauth-clients/authenticate.ts'
import { OAuthError } from '../oauth-clients/failures.ts'
import { touchClient } from '../oauth-clients/store.ts'
import { findUser, lockUser } from '../users/store.ts'
import { endGrant } from './ending.ts'
import { newRefresh, type Refresh, toRefresh } from './refresh-token.ts'
import { ACCESS_PREFIX, endOf, isVerifier, parseRefresh, replaceRefresh } from './rules.ts'
import {
  deleteAccess,
  findGrant,
  findGrantOfAccess,
  type GrantRow,
  insertAccess,
  type Proof,
  storeRefresh,
} from './store.ts'

/** The tokens of a client, in the form of RFC 6749, section 5.1. */
export interface IssuedTokens {
  access_token: string
  token_type: 'Bearer'
  /** Seconds. */
  expires_in: number
  refresh_token: string
  /** What the user allows, which may be less than was asked for. */
  scope: string
}

/** The fields of a request for tokens (RFC 6749, sections 4.1.3 and 6). */
export type TokenForm = ClientProof &
  Partial<Record<'grant_type' | 'code' | 'redirect_uri' | 'code_verifier' | 'refresh_token' | 'resource', string>>

/**
 * The tokens for a code, or for a refresh token, which is replaced.
 *
 * A code that is used twice ends its grant, and so does a refresh token long after it was replaced: it was copied.
 *
 * @throws OAuthError
 */
export async function issueTokens(ctx: Context, form: TokenForm): Promise<IssuedTokens> {
  if (form.grant_type === 'authorization_code') return exchange(ctx, form)
  if (form.grant_type === 'refresh_token') return refresh(ctx, form)
  if (form.grant_type === undefined) throw new OAuthError('invalid_request', 'grant_type is missing')
  throw new OAuthError('unsupported_grant_type', 'Codes and refresh tokens are taken')
}

async function exchange(ctx: Context, form: TokenForm): Promise<IssuedTokens> {
  const { code, redirect_uri, code_verifier } = form
  if (code === undefined || redirect_uri === undefined || code_verifier === undefined)
    throw new OAuthError('invalid_request', 'code, redirect_uri and code_verifier are needed')
  const proof = { code_hash: digest(code) }
  const grant = await findOwn(ctx, form, proof)
  const isProved = isVerifier(code_verifier) && sameDigest(digest(code_verifier), grant.code_challenge)
  if (redirect_uri !== grant.redirect_uri || !isProved) throw refused()
  const next = newRefresh()
  return issue(ctx, proof, next, async (tx, current) => {
    if (current.code_expires_at === null) return end(ctx, tx, current, 'code')
    if (current.code_expires_at < ctx.now()) return undefined
    return [{ hash: next.hash }]
  })
}

async function refresh(ctx: Context, form: TokenForm): Promise<IssuedTokens> {
  if (form.refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing')
  const used = toRefresh(form.refresh_token)
  if (!used) throw refused()
  const proof = { family_hash: used.family_hash }
  await findOwn(ctx, form, proof)
  const next = newRefresh(used.token)
  return issue(ctx, proof, next, async (tx, current) => {
    const tokens = replaceRefresh(parseRefresh(current), used.hash, next.hash, ctx.now())
    return tokens ?? end(ctx, tx, current, 'replayed')
  })
}

/** The grant that a client has proved to have, which has proved who it is. */
async function findOwn(ctx: Context, form: TokenForm, proof: Proof): Promise<GrantRow> {
  // Not with other reads of this turn, which on SQLite see one state: another process may just have made the code.
  const grant = await ctx.db.snapshot((db) => findGrant(db, proof))
  const client = await authenticateClient(ctx, form)
  if (form.resource !== undefined && form.resource !== mcpUrlOf(ctx.config))
    throw new OAuthError('invalid_target', 'Tokens are for /mcp of this service')
  if (!grant || grant.client_id !== client.client_id) throw refused()
  return grant
}

/**
 * Issues tokens in one transaction with what is checked and replaced for them.
 *
 * @param replace the refresh tokens from now on; `undefined` where there are none
 */
async function issue(
  ctx: Context,
  proof: Proof,
  next: Refresh,
  replace: (tx: Tx, grant: GrantRow) => Promise<ReturnType<typeof replaceRefresh>>,
): Promise<IssuedTokens> {
  const { mcp } = ctx.config
  const tokens = await ctx.write(async (tx) => {
    const found = await findGrant(tx, proof)
    if (!found) return undefined
    // In the order of everything that ends access: the user, then what is the user's.
    await lockUser(tx, found.user_id)
    const [grant, user] = [await findGrant(tx, proof), await findUser(tx, found.user_id)]
    const now = ctx.now()
    if (!grant || !user || user.disabled_at !== null || endOf(grant, mcp.oauth) < now) return undefined
    const replaced = await replace(tx, grant)
    if (!replaced) return undefined
    await storeRefresh(tx, { id: grant.id, family_hash: next.family_hash, tokens: replaced, now })
    const access_token = ACCESS_PREFIX + newToken()
    const expires_at = Math.min(
      now + mcp.oauth.access_seconds * SECOND,
      endOf({ ...grant, last_used_at: now }, mcp.oauth),
    )
    await touchClient(tx, grant.client_id, { at: now, pause: DAY })
    const dropped = await insertAccess(tx, {
      id: ctx.id(),
      user_id: grant.user_id,
      name: grant.client_name,
      key_hash: digest(access_token),
      created_at: now,
      expires_at,
      grant_id: grant.id,
      audience: mcpUrlOf(ctx.config),
      scopes: grant.scopes,
    })
    if (dropped > 0) tx.recheckStreams({ user_id: grant.user_id })
    return { access_token, expires_in: Math.floor((expires_at - now) / SECOND), scope: grant.scopes }
  })
  if (!tokens) throw refused()
  return { ...tokens, token_type: 'Bearer', refresh_token: next.token }
}

/** Ends a grant whose code or refresh token has two holders. */
async function end(ctx: Context, tx: Tx, { id, user_id, client_host }: GrantRow, reason: 'code' | 'replayed') {
  const isReplayed = reason === 'replayed'
  await endGrant(tx, id, { act: isReplayed ? 'grant.replayed' : 'grant.revoked', reason })
  if (isReplayed) await notify(ctx, tx, user_id, 'grant_replayed', { host: client_host })
  return undefined
}

/** One answer for all, so that none says more than that there are no tokens. */
const refused = () =>
  new OAuthError('invalid_grant', 'The code or token is unknown, used, expired or not of this client')

/**
 * Ends what a client no longer needs (RFC 7009): an access token, or with a refresh token the grant. A token that there is not,
 * or is of another client, is no failure.
 *
 * @throws OAuthError `invalid_client`; `invalid_request` without a token
 */
export async function revokeToken(ctx: Context, form: ClientProof & { token?: string }): Promise<void> {
  const { token } = form
  if (token === undefined) throw new OAuthError('invalid_request', 'token is missing')
  const family_hash = toRefresh(token)?.family_hash
  const grant = await (family_hash === undefined
    ? findGrantOfAccess(ctx.db, digest(token))
    : findGrant(ctx.db, { family_hash }))
  const client = await authenticateClient(ctx, form)
  if (!grant || grant.client_id !== client.client_id) return
  await ctx.write(async (tx) => {
    if (family_hash === undefined) {
      const ended = await deleteAccess(tx, digest(token))
      if (ended) tx.recheckStreams(ended)
      return
    }
    await endGrant(tx, grant.id, { reason: 'client' })
  })
}
