import type { Context } from '../../context.ts'
import { type Actor, assertPerson, type McpScope, refuseGuests, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { byActor } from '../audit/rules.ts'
import { notify } from '../mails/notices.ts'
import { findUser, lockUser } from '../users/store.ts'
import { endGrant } from './ending.ts'
import { CODE_SECONDS, MAX_GRANTS } from './rules.ts'
import { insertGrant, listLeastUsed } from './store.ts'

/** What a user allows an application, by the page. */
export interface Allowed {
  client_id: string
  client_name: string
  client_host: string
  redirect_uri: string
  scopes: readonly McpScope[]
  /** The digest of a verifier (RFC 7636, `S256`). */
  code_challenge: string
}

/**
 * Adds a grant, which the application uses with the code. With too many, the least used of the user's ends.
 *
 * @returns the code, which is valid for a minute, once; only its digest is stored
 * @throws ChatError `forbidden` for an actor without a sign-in: a key, a bot, a guest, a system actor; `account_disabled`
 */
export async function grantCode(
  ctx: Pick<Context, 'id' | 'now' | 'mail'>,
  tx: Tx,
  actor: Actor,
  { scopes, ...allowed }: Allowed,
): Promise<string> {
  refuseKeys(actor)
  refuseGuests(actor)
  assertPerson(actor)
  const { user_id } = actor
  await lockUser(tx, user_id)
  const user = await findUser(tx, user_id)
  if (!user || user.disabled_at !== null) throw new ChatError('account_disabled')
  for (const { id } of await listLeastUsed(tx, user_id, MAX_GRANTS - 1))
    await endGrant(tx, id, { reason: 'limit', by: byActor(actor) })
  const now = ctx.now()
  const id = ctx.id()
  const code = newToken()
  await insertGrant(tx, {
    ...allowed,
    id,
    user_id,
    scopes: scopes.join(' '),
    created_at: now,
    last_used_at: now,
    code_hash: digest(code),
    code_expires_at: now + CODE_SECONDS * SECOND,
    family_hash: null,
    refresh_tokens: '[]',
  })
  const { client_id, client_name, client_host } = allowed
  await notify(ctx, tx, user_id, 'grant_created', { host: client_host })
  const detail = { client_id, scopes: scopes.join(' ') }
  tx.audit({ act: 'grant.created', ...byActor(actor), subject_id: id, detail, names: { client: client_name } })
  return code
}
