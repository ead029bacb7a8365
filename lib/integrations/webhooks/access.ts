import { listLiveKeys } from '../../accounts/api-keys/store.ts'
import { lockUsers } from '../../accounts/users/store.ts'
import { findOwnerId } from '../../accounts/users/store-bots.ts'
import type { Context } from '../../context.ts'
import { assertMayWrite, assertServiceRight } from '../../core/access.ts'
import { type Actor, assertPerson, isOperator, refuseGuests } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { findBot } from '../bots/store.ts'
import type { WebhookHolder, WebhookRow } from './store.ts'

/**
 * @throws ChatError `not_found` unless webhooks are enabled; `forbidden` for guests, system actors, tokens of the service, and
 *   server keys
 */
export function assertOffered({ config }: Pick<Context, 'config'>, actor: Actor): void {
  if (!config.webhooks.enabled) throw turnedOff('webhooks.enabled')
  if (isOperator(actor)) return
  assertPerson(actor)
  refuseGuests(actor)
  if (actor.scopes !== undefined) throw new ChatError('forbidden', { reason: 'scope' })
  if (actor.server_key !== undefined) throw new ChatError('forbidden', { reason: 'key' })
}

/** @throws ChatError as {@link assertOffered}; `forbidden` for users who may only read */
export function assertMayChange(ctx: Pick<Context, 'config' | 'access'>, actor: Actor): void {
  assertOffered(ctx, actor)
  assertMayWrite(ctx.access, actor)
}

/** @throws ChatError as {@link assertMayChange}; `forbidden` without the right `keys` */
export function assertMayMake(ctx: Pick<Context, 'config' | 'access'>, actor: Actor): void {
  assertMayChange(ctx, actor)
  assertServiceRight(ctx.access, actor, 'keys')
}

/** Whose webhooks an actor has: a user those of its bots too, a bot its own, the operator all. */
export function holderOf(actor: Actor): WebhookHolder {
  if (isOperator(actor)) return { all: true }
  return actor.is_bot ? { bot_id: actor.user_id } : { user_id: actor.user_id }
}

/**
 * With an API key only the webhooks that it has made are changed: what a stolen one does ends with it.
 *
 * @throws ChatError `forbidden`
 */
export function assertMadeBy({ key_id }: Actor, row: Pick<WebhookRow, 'key_id'>): void {
  if (key_id !== undefined && row.key_id !== key_id) throw new ChatError('forbidden', { reason: 'key' })
}

/** Whose events a webhook gets: a user's, those of a bot of the user, or those of all conversations. */
export type Owner = Pick<WebhookRow, 'user_id' | 'bot_id'>

/** The owner of a new webhook. @throws ChatError `not_found` for a bot that is not the actor's */
export async function findOwner(db: Queries, actor: Actor, bot_id: string | undefined): Promise<Owner> {
  if (actor.is_bot) {
    if (bot_id !== undefined && bot_id !== actor.user_id) throw new ChatError('not_found')
    const user_id = await findOwnerId(db, actor.user_id)
    if (user_id === undefined) throw new ChatError('not_found')
    return { user_id, bot_id: actor.user_id }
  }
  if (bot_id === undefined) return { user_id: actor.user_id || null, bot_id: null }
  const bot = await findBot(db, bot_id)
  if (!bot || !(isOperator(actor) || bot.owner_id === actor.user_id))
    throw new ChatError('not_found', { message: 'You have no such bot.' })
  return { user_id: bot.owner_id, bot_id }
}

/**
 * Locks the owner of a new webhook, in the order of ids: a lockdown or an erasure either finds the webhook, or has ended the
 * session or the key before.
 *
 * @throws ChatError `unauthenticated` when they have ended
 */
export async function lockOwner(
  tx: Tx,
  { user_id, bot_id }: Owner,
  { actor, now }: { actor: Actor; now: Micros },
): Promise<void> {
  const ids = [user_id, bot_id].filter((id) => id !== null)
  const users = await lockUsers(tx, ids, { admins: false })
  if (users.length < ids.length || users.some(({ disabled_at }) => disabled_at !== null))
    throw new ChatError(isOperator(actor) ? 'not_found' : 'unauthenticated')
  if (actor.key_id !== undefined && (await listLiveKeys(tx, [actor.key_id], now)).length === 0)
    throw new ChatError('unauthenticated')
}
