import { BOT_KEY_PREFIX } from '../../accounts/api-keys/rules.ts'
import { ApiKeyInput, type ApiKeys, type CreatedKey } from '../../accounts/api-keys/schema.ts'
import { addKey, toNewKey } from '../../accounts/api-keys/service.ts'
import { deleteKey, listKeys as listKeysOf, toKey } from '../../accounts/api-keys/store.ts'
import { byActor } from '../../accounts/audit/rules.ts'
import { endMeans } from '../../accounts/means/ending.ts'
import { endWebhooksOfKeys } from '../../accounts/means/ending-webhooks.ts'
import { requireConfirmation } from '../../accounts/sessions/service-confirmation.ts'
import { announceChange } from '../../accounts/users/announcing.ts'
import { refuseAssistantName } from '../../accounts/users/assistant-names.ts'
import { photosOf } from '../../accounts/users/photos.ts'
import { PLACEHOLDER_DOMAINS } from '../../accounts/users/rules.ts'
import { Erasure } from '../../accounts/users/schema.ts'
import { addUser } from '../../accounts/users/service.ts'
import { lockUser, lockUsers } from '../../accounts/users/store.ts'
import { updateUser } from '../../accounts/users/store-naming.ts'
import { isSystemUser } from '../../accounts/users/store-system.ts'
import type { Context } from '../../context.ts'
import { assertMayWrite, assertServiceRight } from '../../core/access.ts'
import { type Actor, assertPerson, isOperator, refuseGuests, refuseKeys } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { eraseAccount } from '../../erasure/service.ts'
import { spendAct } from '../../limits/spending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { isTaken } from '../../storage/errors.ts'
import { planBotChange } from './rules.ts'
import { type BotAnswer, BotChanges, BotInput, BotOfUser, type Bots, BotsQuery, type CreatedBot } from './schema.ts'
import { type BotRow, findBot, listBots, toBot, updateBot } from './store.ts'

/**
 * Makes a bot of the actor, or from the operator of the user that it names, with its first key. The key is returned only
 * here.
 *
 * @throws ChatError `not_found` unless bots are enabled, and for an owner that does not exist; `forbidden` for guests, bots,
 *   users who may only read, with an API key or a token, and without the right `keys`; `confirmation_required`;
 *   `username_taken`; `conflict` beyond `bots.max_per_user`; `rate_limited`; `validation_failed` for an owner that is no
 *   person, and for one that any other actor names
 */
export const create = useCase({
  takes: ['actor'],
  input: BotOfUser,
  errors: ['not_found', 'confirmation_required', 'conflict', 'username_taken', 'validation_failed'],
  run: async (ctx, actor, { owner_id, username, display_name, description }): Promise<CreatedBot> => {
    assertMayMake(ctx, actor)
    const ownerId = nameOwner(actor, owner_id)
    if (!isOperator(actor)) await spendAct(ctx, ownerId, 'key.created')
    return ctx.write(async (tx) => {
      await lockOwner(tx, ownerId)
      await requireConfirmation(ctx, tx, actor)
      const most = ctx.config.bots.max_per_user
      if ((await listBots(tx, ownerId)).length >= most)
        throw new ChatError('conflict', { message: `A user has at most ${most} bots: erase one first.` })
      const user = await addUser(ctx, tx, {
        username,
        email: `${ctx.id()}@${PLACEHOLDER_DOMAINS.bot}`,
        email_verified: false,
        password_hash: null,
        roles: ['member'],
        kind: 'bot',
        ...(display_name && { display_name }),
      })
      const row = { ...user, owner_id: ownerId, description: description || null, disabled_by_owner: 0 }
      await updateBot(tx, row)
      tx.audit({
        act: 'user.created',
        ...byActor(actor),
        subject_id: row.id,
        detail: { by: 'owner', user_id: ownerId },
      })
      const first = { name: FIRST_KEY, expires_at: null, prefix: BOT_KEY_PREFIX }
      const { key } = await addKey(ctx, tx, actor, { ...first, user_id: row.id, notified_id: ownerId })
      return { bot: toBot(row, photosOf(ctx.config)), key }
    })
  },
})

/** {@link create} for a client of the service, which names no owner. */
export const createOwn = useCase({ ...create, input: BotInput })

/** The name of the key that a bot gets when it is made. */
const FIRST_KEY = 'First key'

/**
 * The bots of the actor, or for the operator of the user that it names, oldest first.
 *
 * @throws ChatError `not_found` unless bots are enabled; `forbidden`; `validation_failed` as {@link create}
 */
export const list = useCase({
  takes: ['actor'],
  input: BotsQuery,
  errors: ['not_found', 'validation_failed'],
  run: async (ctx, actor, { owner_id }): Promise<Bots> => {
    assertOffered(ctx, actor)
    const photos = photosOf(ctx.config)
    return { bots: (await listBots(ctx.db, nameOwner(actor, owner_id))).map((row) => toBot(row, photos)) }
  },
})

/** {@link list} for a client of the service. */
export const listOwn = useCase({
  takes: ['actor'],
  errors: ['not_found'],
  run: (ctx, actor): Promise<Bots> => list.run(ctx, actor, {}),
})

/**
 * Changes a bot, effective at once. A disabled one keeps its keys, which are refused.
 *
 * @throws ChatError `not_found`; `forbidden` with an API key or a token, to enable a bot that an administrator has disabled,
 *   and to enable one without the right `keys`; `username_taken`
 */
export const change = useCase({
  takes: ['actor', 'bot_id'],
  input: BotChanges,
  errors: ['not_found', 'forbidden', 'username_taken'],
  run: async (ctx, actor, botId, input): Promise<BotAnswer> => {
    assertOffered(ctx, actor)
    refuseKeys(actor)
    assertMayWrite(ctx.access, actor)
    if (input.disabled === false) assertServiceRight(ctx.access, actor, 'keys')
    const changing = ctx.write(async (tx) => {
      const before = await lockOwn(tx, actor, botId)
      const isByOwner = before.owner_id === actor.user_id
      if (input.disabled === false && isByOwner && before.disabled_at !== null && before.disabled_by_owner === 0)
        throw new ChatError('forbidden', { reason: 'role', message: 'An administrator has disabled this bot.' })
      const { after, acts } = planBotChange(before, input, { isByOwner, now: ctx.now() })
      refuseAssistantName(ctx, after.username, before.username)
      await updateUser(tx, after, ctx.now())
      await updateBot(tx, after)
      announceChange(tx, before, after)
      if (after.disabled_at !== null && before.disabled_at === null)
        await endMeans(ctx, tx, { user_id: botId }, 'disabled', { by: byActor(actor) })
      for (const entry of acts) tx.audit({ ...entry, ...byActor(actor), subject_id: botId })
      return { bot: toBot(after, photosOf(ctx.config)) }
    })
    return changing.catch((error) => {
      throw isTaken(error) ? new ChatError('username_taken', { cause: error }) : error
    })
  },
})

/**
 * Erases a bot: its keys end at once. What it has written stays without an author, or is erased.
 *
 * @throws ChatError `not_found`; `forbidden` with an API key or a token
 */
export const remove = useCase({
  takes: ['actor', 'bot_id'],
  input: Erasure,
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, botId, { messages }): Promise<void> => {
    assertOffered(ctx, actor)
    refuseKeys(actor)
    assertMayWrite(ctx.access, actor)
    await eraseAccount(ctx, actor, { id: botId, messages, take: (tx) => lockOwn(tx, actor, botId) })
  },
})

/** The keys of a bot, newest first. @throws ChatError `not_found`; `forbidden` with an API key or a token */
export const listKeys = useCase({
  takes: ['actor', 'bot_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, botId): Promise<ApiKeys> => {
    assertOffered(ctx, actor)
    refuseKeys(actor)
    await findOwn(ctx.db, actor, botId)
    return { keys: (await listKeysOf(ctx.db, botId)).map(toKey) }
  },
})

/**
 * Creates another key of a bot. It is returned only here; the database has a digest.
 *
 * @throws ChatError as {@link create}
 */
export const createKey = useCase({
  takes: ['actor', 'bot_id'],
  input: ApiKeyInput,
  errors: ['not_found', 'forbidden', 'confirmation_required', 'conflict'],
  run: async (ctx, actor, botId, input): Promise<CreatedKey> => {
    assertMayMake(ctx, actor)
    const key = toNewKey(ctx, input)
    await findOwn(ctx.db, actor, botId)
    if (!isOperator(actor)) await spendAct(ctx, actor.user_id, 'key.created')
    return ctx.write(async (tx) => {
      // With its maker, in the order of their ids: a lockdown either finds the key, or has ended the session before.
      await lockUsers(tx, isOperator(actor) ? [botId] : [botId, actor.user_id], { admins: false })
      const bot = await findOwn(tx, actor, botId)
      await requireConfirmation(ctx, tx, actor)
      const about = { user_id: botId, prefix: BOT_KEY_PREFIX, notified_id: bot.owner_id }
      return addKey(ctx, tx, actor, { ...key, ...about })
    })
  },
})

/** Revokes a key of a bot and closes its streams. @throws ChatError `not_found`; `forbidden` with an API key or a token */
export const revokeKey = useCase({
  takes: ['actor', 'bot_id', 'key_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, botId, keyId): Promise<void> => {
    assertOffered(ctx, actor)
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      await findOwn(tx, actor, botId)
      const key = await deleteKey(tx, keyId, botId)
      if (!key) throw new ChatError('not_found')
      await endWebhooksOfKeys(tx, ctx.now(), { keyId, by: byActor(actor) })
      const detail = { user_id: botId }
      tx.audit({ act: 'key.revoked', ...byActor(actor), subject_id: keyId, detail, names: { key: key.name } })
      tx.recheckStreams({ user_id: botId })
    })
  },
})

/** @throws ChatError `not_found` unless bots are enabled; `forbidden` for guests and parts of the host */
function assertOffered({ config }: Pick<Context, 'config'>, actor: Actor): void {
  if (!config.bots.enabled) throw turnedOff('bots.enabled')
  if (isOperator(actor)) return
  assertPerson(actor)
  refuseGuests(actor)
}

/** @throws ChatError `not_found`, `forbidden` unless the actor may make bots and keys of them */
function assertMayMake(ctx: Pick<Context, 'config' | 'access'>, actor: Actor): void {
  assertOffered(ctx, actor)
  refuseKeys(actor)
  assertMayWrite(ctx.access, actor)
  assertServiceRight(ctx.access, actor, 'keys')
}

/** The id of an owner: the actor's own, or that which the operator names. @throws ChatError `validation_failed` */
function nameOwner(actor: Actor, owner_id: string | undefined): string {
  const isNamed = owner_id !== undefined
  if (isNamed !== isOperator(actor)) {
    const message = isNamed ? 'must be left out: your bots are your own' : 'must name the owner'
    throw new ChatError('validation_failed', { errors: [{ path: 'owner_id', message }] })
  }
  return owner_id ?? actor.user_id
}

/** Locks the owner of a new bot: an erasure either finds the bot, or has disabled the owner before. */
async function lockOwner(tx: Tx, ownerId: string): Promise<void> {
  const [owner] = await lockUsers(tx, [ownerId], { admins: false })
  if (!owner) throw new ChatError('not_found', { message: 'There is no such user.' })
  if (owner.disabled_at !== null) throw new ChatError('unauthenticated')
  if (owner.kind !== 'person' || (await isSystemUser(tx, ownerId)))
    throw new ChatError('validation_failed', { errors: [{ path: 'owner_id', message: 'must be the id of a person' }] })
}

/** A bot of the actor, or any for the operator. @throws ChatError `not_found` */
async function findOwn(db: Queries, actor: Actor, botId: string): Promise<BotRow> {
  const bot = await findBot(db, botId)
  if (!bot || !(isOperator(actor) || bot.owner_id === actor.user_id)) throw new ChatError('not_found')
  return bot
}

/** As {@link findOwn}, locked until the transaction ends. */
async function lockOwn(tx: Tx, actor: Actor, botId: string): Promise<BotRow> {
  await lockUser(tx, botId)
  return findOwn(tx, actor, botId)
}
