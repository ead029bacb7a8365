import type { Context } from '../../context.ts'
import { assertServiceRight } from '../../core/access.ts'
import { type Actor, assertPerson, refuseGuests, refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { fromInstant, toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { spendAct } from '../../limits/spending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { byActor } from '../audit/rules.ts'
import { notify } from '../mails/notices.ts'
import { endWebhooksOfKeys } from '../means/ending-webhooks.ts'
import { recordUse } from '../sessions/record-use.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import { toActor } from '../users/rules.ts'
import { lockUser } from '../users/store.ts'
import { isApiKey, KEY_PREFIX } from './rules.ts'
import { ApiKeyInput, type ApiKeys, type CreatedKey } from './schema.ts'
import { countKeys, deleteKey, findKeyByHash, insertKey, listKeys, toKey, touchKey } from './store.ts'

/** The maximum number of keys per user: enough for one per machine, and a bound for a loop that creates them. */
const MAX_KEYS_PER_USER = 50

/** A key would be accepted by no route. */
const NO_KEYS =
  'With ports.identity an API key has no effect: your own login recognises every caller. In the process, act for a person with chat.users.actorOf(subject).'

/** The minimum time between two stored uses of a key. */
const TOUCH_SECONDS = 60

/**
 * Creates a key that acts as the actor. It is returned only here; the database has a digest.
 *
 * @throws ChatError `forbidden` with a key, for the operator, and without the right `keys`; `confirmation_required`;
 *   `validation_failed` for an expiry in the past; `conflict` with too many keys, and where the host identifies callers
 *   (`ports.identity`); `rate_limited`
 */
export const create = useCase({
  takes: ['actor'],
  input: ApiKeyInput,
  errors: ['confirmation_required', 'conflict'],
  run: async (ctx, actor, input): Promise<CreatedKey> => {
    if (ctx.host.identity) throw new ChatError('conflict', { message: NO_KEYS })
    refuseKeys(actor)
    assertPerson(actor)
    refuseGuests(actor)
    assertServiceRight(ctx.access, actor, 'keys')
    const key = toNewKey(ctx, input)
    await spendAct(ctx, actor.user_id, 'key.created')
    return ctx.write(async (tx) => {
      await lockUser(tx, actor.user_id)
      await requireConfirmation(ctx, tx, actor)
      return addKey(ctx, tx, actor, { ...key, user_id: actor.user_id, prefix: KEY_PREFIX, notified_id: actor.user_id })
    })
  },
})

/** A key to be made, with its expiry as it is stored. */
interface NewKey {
  name: string
  expires_at: Micros | null
}

/** @throws ChatError `conflict` for an expiry in the past */
export function toNewKey({ now }: Pick<Context, 'now'>, input: ApiKeyInput): NewKey {
  const expires_at = input.expires_at === undefined ? null : fromInstant(input.expires_at)
  if (expires_at !== null && expires_at <= now())
    throw new ChatError('conflict', { message: 'An API key expires in the future.' })
  return { name: input.name, expires_at }
}

/**
 * Adds a key in a transaction that has locked its user.
 *
 * @param key.notified_id the user who gets a mail about it: the owner of a bot
 * @throws ChatError `conflict` with too many keys
 */
export async function addKey(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  { name, expires_at, user_id, prefix, notified_id }: NewKey & { user_id: string; prefix: string; notified_id: string },
): Promise<CreatedKey> {
  if ((await countKeys(tx, user_id)) >= MAX_KEYS_PER_USER)
    throw new ChatError('conflict', { message: `A user has at most ${MAX_KEYS_PER_USER} keys: revoke one first.` })
  const id = ctx.id()
  const key = prefix + newToken()
  await insertKey(tx, { id, user_id, name, key_hash: digest(key), created_at: ctx.now(), expires_at })
  await notify(ctx, tx, notified_id, 'key_created')
  const detail = user_id !== actor.user_id && { detail: { user_id } }
  tx.audit({ act: 'key.created', ...byActor(actor), subject_id: id, ...detail, names: { key: name } })
  return { id, name, key, ...(expires_at !== null && { expires_at: toInstant(expires_at) }) }
}

/** The actor's keys, newest first, including recently expired ones. @throws ChatError `forbidden` with a key */
export const list = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<ApiKeys> => {
    refuseKeys(actor)
    return { keys: (await listKeys(ctx.db, actor.user_id)).map(toKey) }
  },
})

/** Revokes a key of the actor and closes its streams. @throws ChatError `forbidden` with a key; `not_found` */
export const revoke = useCase({
  takes: ['actor', 'key_id'],
  errors: ['not_found'],
  frees: 'half',
  run: async (ctx, actor, keyId): Promise<void> => {
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      const key = await deleteKey(tx, keyId, actor.user_id)
      if (!key) throw new ChatError('not_found')
      await endWebhooksOfKeys(tx, ctx.now(), { keyId, by: byActor(actor) })
      tx.audit({ act: 'key.revoked', ...byActor(actor), subject_id: keyId, names: { key: key.name } })
      tx.recheckStreams({ user_id: actor.user_id })
    })
  },
})

/**
 * The actor of a key. A wrong, revoked or expired key, the key of a disabled user or of a bot whose owner is disabled, and
 * any other token fail alike.
 *
 * @throws ChatError `unauthenticated`
 */
export async function recogniseKey(ctx: Context, token: string, keyHash = digest(token)): Promise<Actor> {
  const key = isApiKey(token) ? await findKeyByHash(ctx.db, keyHash) : undefined
  const now = ctx.now()
  if (!key || key.disabled_at || (key.expires_at !== null && now > key.expires_at))
    throw new ChatError('unauthenticated')
  if (key.kind === 'bot' && (key.is_abandoned || !ctx.config.bots.enabled)) throw new ChatError('unauthenticated')
  if (key.last_used_at === null || now - key.last_used_at >= TOUCH_SECONDS * SECOND)
    await recordUse(ctx, 'key', (tx) => touchKey(tx, key.id, now))
  return { ...toActor({ ...key, id: key.user_id }), key_id: key.id }
}
