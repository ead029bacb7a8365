import type { Context } from '../../context.ts'
import { type Actor, OPERATOR, splitRoles } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import { systemActor } from '../host-identity/system.ts'
import { findPerson } from '../identities/host-person.ts'
import { recordUse } from '../sessions/record-use.ts'
import { noteGuestUse } from '../users/guest-use.ts'
import { toActor } from '../users/rules.ts'
import { findUser } from '../users/store.ts'
import { isActive } from '../users/store-bots.ts'
import { isOfService } from '../users/store-system.ts'
import { ACT_AS, type ActedAs, actsFor, parseActAs, scopeFor } from './rules.ts'
import type { ServerKeyScope } from './schema.ts'
import { findServerKeyByHash, splitScopes, touchServerKey } from './store.ts'

/** The minimum time between two stored uses of a key. */
const TOUCH_SECONDS = 60

/** The caller of a request with a server key. */
export interface ServerCaller {
  /** The account in whose name the key acts; without one, the operator by this key. */
  actor: Actor
  /** What the key allows, where it acts for no account: few routes take it. */
  grants?: readonly ServerKeyScope[]
}

/**
 * The caller of a server key: the account that `Chat-Act-As` names, else the key itself.
 *
 * @throws ChatError `unauthenticated` for a key that is wrong, revoked or expired; `forbidden` with `Origin`, without the
 *   scope and for an administrator; `validation_failed` for a malformed header; `not_found`; `account_disabled`
 */
export async function recogniseServerKey(ctx: Context, keyHash: string, headers: Headers): Promise<ServerCaller> {
  // A page has it: then everybody who reads the page has it.
  if (headers.get('origin') !== null)
    throw new ChatError('forbidden', { reason: 'key', message: 'A server key is not for pages: keep it on a server.' })
  const key = await findServerKeyByHash(ctx.db, keyHash)
  const now = ctx.now()
  if (!key || (key.expires_at !== null && now > key.expires_at)) throw new ChatError('unauthenticated')
  if (key.last_used_at === null || now - key.last_used_at >= TOUCH_SECONDS * SECOND)
    await recordUse(ctx, 'key', (tx) => touchServerKey(tx, key.id, now))
  const grants = splitScopes(key)
  const header = headers.get(ACT_AS)
  if (header === null) return { actor: { ...OPERATOR, server_key: key.id }, grants }
  const account = parseActAs(header)
  if (!account) throw new ChatError('validation_failed', { errors: [MALFORMED] })
  if (!grants.includes(scopeFor(account))) throw new ChatError('forbidden', { reason: 'scope' })
  return { actor: { ...(await actorOf(ctx, account, key.id)), key_id: key.id, server_key: key.id } }
}

const MALFORMED = {
  path: ACT_AS,
  message: 'must be subject:<percent-encoded>, user:<id> or system:<name>, once',
}

async function actorOf(ctx: Context, account: ActedAs, server_key: string): Promise<Actor> {
  if ('system' in account) return systemActor(ctx, account.system, {}, { server_key })
  const user =
    'subject' in account ? await findPerson(ctx.db, account.subject) : await findUser(ctx.db, account.user_id)
  if (!user || ('user_id' in account && (await isOfService(ctx.db, user.id)))) throw new ChatError('not_found')
  if (user.kind === 'bot' && !ctx.config.bots.enabled) throw turnedOff('bots.enabled')
  if (!(await isActive(ctx.db, user))) throw new ChatError('account_disabled')
  const roles = splitRoles(user.roles)
  if (!actsFor(roles)) throw new ChatError('forbidden', { reason: 'key', message: NO_ADMINISTRATOR })
  await noteGuestUse(ctx, user)
  return toActor(user)
}

const NO_ADMINISTRATOR = 'A server key does not act for administrators.'
