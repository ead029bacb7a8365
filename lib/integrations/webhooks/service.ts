import { requireConfirmation } from '../../accounts/sessions/service-confirmation.ts'
import type { Context } from '../../context.ts'
import { type Actor, isOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { spendAct } from '../../limits/spending.ts'
import {
  assertMadeBy,
  assertMayChange,
  assertMayMake,
  assertOffered,
  findOwner,
  holderOf,
  lockOwner,
} from './access.ts'
import { audit } from './auditing.ts'
import { assertCallable, assertContent, assertOpens, assertReads, assertRoom, trustOf } from './checks.ts'
import { listUnsent } from './lag.ts'
import { moveTo, moveToPresent, presentStart, type Start, startSince } from './place.ts'
import { beginsNow, changesOf, checkTypes, planChange, planSwitch, planWebhook } from './rules.ts'
import {
  type CreatedWebhook,
  type Webhook,
  type WebhookAnswer,
  WebhookChanges,
  WebhookInput,
  WebhookOfActor,
  type Webhooks,
  WebhooksOfActorQuery,
  type WebhooksPage,
  WebhooksQuery,
} from './schema.ts'
import { rekey, sealHeaders, sealSecret } from './secrets.ts'
import { toWebhook } from './showing.ts'
import { newWebhookSecret, publicKeyOf } from './signing.ts'
import {
  clearFailures,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWaiting,
  listWebhooks,
  lockWebhook,
  updateWebhook,
  type WebhookRow,
} from './store.ts'
import { reorderParked } from './store-sending.ts'

/**
 * Makes a webhook of the actor or of a bot of the actor, or from the operator one of all conversations. The secret is returned
 * only here. Made with an API key, it ends with the key.
 *
 * @throws ChatError `not_found` unless webhooks are enabled, for another's bot, and for a conversation in which the user or
 *   the bot does not participate; `forbidden` for guests, users who may only read, with a token or a server key, and without
 *   the right `keys`; `confirmation_required`; `conflict` beyond `webhooks.max_per_user`; `rate_limited`;
 *   `validation_failed` for a URL that is not to be called, for types, and for `since`
 */
export const create = useCase({
  takes: ['actor'],
  input: WebhookOfActor,
  errors: ['not_found', 'confirmation_required', 'conflict', 'validation_failed'],
  run: async (ctx, actor, { content, ...input }): Promise<CreatedWebhook> => {
    assertMayMake(ctx, actor)
    const owner = await findOwner(ctx.db, actor, input.bot_id)
    assertContent(owner, content)
    assertCallable(ctx, input.url)
    checkTypes(input.types, owner.bot_id !== null)
    await assertReads(ctx.db, owner, input.conversation_id)
    const start = input.since === undefined ? await presentStart(ctx) : await startSince(ctx, input.since)
    if (!isOperator(actor)) await spendAct(ctx, actor.user_id, 'webhook.created')
    const id = ctx.id()
    const secret = newWebhookSecret(input.signature ?? 'v1')
    const made = {
      id,
      ...owner,
      key_id: actor.key_id ?? null,
      secret: await sealSecret(ctx, id, secret),
      public_key: publicKeyOf(secret) ?? null,
      ...(await sealHeaders(ctx, id, input.headers ?? {})),
      has_content: content ? 1 : 0,
      ...start,
      created_at: ctx.now(),
    }
    return ctx.write(async (tx) => {
      await lockOwner(tx, owner, { actor, now: ctx.now() })
      await requireConfirmation(ctx, tx, actor)
      await assertRoom(ctx, tx, owner)
      const row = planWebhook(made, input, trustOf(ctx, actor))
      await insertWebhook(tx, row)
      audit(tx, actor, 'webhook.created', row)
      const shown = row.public_key === null && { secret }
      return { webhook: toWebhook(row, { parked: 0, oldest_at: undefined }, ctx.now()), ...shown }
    })
  },
})

/** {@link create} for a client of the service. */
export const createOwn = useCase({ ...create, input: WebhookInput })

/**
 * The webhooks of the actor and of the actor's bots, oldest first, a page at a time; for the operator those of all users.
 *
 * @throws ChatError `not_found` unless webhooks are enabled; `forbidden`
 */
export const list = useCase({
  takes: ['actor'],
  input: WebhooksOfActorQuery,
  errors: ['not_found'],
  run: async (ctx, actor, { limit, ...filter }): Promise<WebhooksPage> => {
    assertOffered(ctx, actor)
    await assertOwnBot(ctx, actor, filter.bot_id)
    const rows = await listWebhooks(ctx.db, holderOf(actor), { ...filter, limit: limit + 1 })
    const webhooks = fit(await show(ctx, rows.slice(0, limit)))
    return { webhooks, ...(rows.length > webhooks.length && { next_after: webhooks.at(-1)!.id }) }
  },
})

/** {@link list} for a client of the service: all of a user, of which there are at most `webhooks.max_per_user`. */
export const listOwn = useCase({
  takes: ['actor'],
  input: WebhooksQuery,
  errors: ['not_found'],
  run: async (ctx, actor, { bot_id }): Promise<Webhooks> => {
    assertOffered(ctx, actor)
    await assertOwnBot(ctx, actor, bot_id)
    const rows = await listWebhooks(ctx.db, holderOf(actor), { bot_id })
    return { webhooks: await show(ctx, rows) }
  },
})

/** @throws ChatError `not_found` for a bot that is not the actor's */
async function assertOwnBot({ db }: Pick<Context, 'db'>, actor: Actor, bot_id: string | undefined): Promise<void> {
  if (bot_id !== undefined) await findOwner(db, actor, bot_id)
}

/** A webhook of the actor, or of a bot of the actor. @throws ChatError `not_found`; `forbidden` */
export const get = useCase({
  takes: ['actor', 'webhook_id'],
  errors: ['not_found'],
  run: async (ctx, actor, id): Promise<WebhookAnswer> => {
    assertOffered(ctx, actor)
    const row = await findWebhook(ctx.db, id, holderOf(actor))
    if (!row) throw new ChatError('not_found')
    return toAnswer(ctx, row)
  },
})

/**
 * Changes a webhook, or enables or disables it. A changed URL must return a challenge again.
 *
 * @throws ChatError `not_found`, also for a conversation in which the user or the bot does not participate;
 *   `confirmation_required` for another URL; `forbidden` with an API key that has not made it, to enable what an
 *   administrator has disabled, and without the right `keys` for anything but disabling; `conflict` to enable or disable one that is not verified, and one whose secret is lost;
 *   `validation_failed` as {@link create}
 */
export const change = useCase({
  takes: ['actor', 'webhook_id'],
  input: WebhookChanges,
  errors: ['not_found', 'forbidden', 'confirmation_required', 'conflict', 'validation_failed'],
  run: async (ctx, actor, id, { enabled, since, ...input }): Promise<WebhookAnswer> => {
    const isEnd = enabled === false && since === undefined && Object.keys(input).length === 0
    if (isEnd) assertMayChange(ctx, actor)
    else assertMayMake(ctx, actor)
    const known = await findWebhook(ctx.db, id, holderOf(actor))
    if (!known) throw new ChatError('not_found')
    assertMadeBy(actor, known)
    if (input.url !== undefined) assertCallable(ctx, input.url)
    await assertReads(ctx.db, known, input.conversation_id ?? undefined)
    const sealed = {
      ...(await rekey(ctx, known, input.signature)),
      ...(input.headers && (await sealHeaders(ctx, id, input.headers))),
    }
    if (enabled) await assertOpens(ctx, { ...known, ...sealed })
    const start = since === undefined ? undefined : await startSince(ctx, since)
    const present = enabled ? await presentStart(ctx) : undefined
    const row = await ctx.write(async (tx) => {
      const before = await lockWebhook(tx, id, holderOf(actor))
      if (!before) throw new ChatError('not_found')
      const isMoved = input.url !== undefined && input.url !== before.url
      const isAdopted = enabled === true && before.disabled_reason === 'key'
      if (isMoved || isAdopted) await requireConfirmation(ctx, tx, actor)
      const changed = { ...planChange(before, input, { trust: trustOf(ctx, actor), now: ctx.now() }), ...sealed }
      const isAdmin = actor.roles.includes('admin')
      const reason = isOperator(actor) && before.user_id !== null ? 'admin' : 'user'
      const after = enabled === undefined ? changed : planSwitch(changed, enabled, { isAdmin, reason, now: ctx.now() })
      await updateWebhook(tx, after)
      if (after.event_order !== before.event_order) await reorderParked(tx, after, ctx.now())
      const isEnabled = before.status === 'disabled' && after.status !== 'disabled'
      let moved: Start | undefined
      if (start) moved = await moveTo(ctx, tx, before, start)
      else if (isEnabled && beginsNow(before)) moved = await moveToPresent(tx, before, present!)
      if (isEnabled) await clearFailures(tx, id)
      audit(tx, actor, 'webhook.changed', after, { changed: changesOf(before, after) })
      return { ...after, ...moved }
    })
    return toAnswer(ctx, row)
  },
})

/** Deletes a webhook: no attempt to send begins afterwards. @throws ChatError `not_found`; `forbidden` as {@link change} */
export const remove = useCase({
  takes: ['actor', 'webhook_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, id): Promise<void> => {
    assertMayChange(ctx, actor)
    await ctx.write(async (tx) => {
      const row = await lockWebhook(tx, id, holderOf(actor))
      if (!row) throw new ChatError('not_found')
      assertMadeBy(actor, row)
      await deleteWebhook(tx, id)
      // A notification of it is shown no more.
      if (row.user_id !== null) tx.publishCounts([row.user_id])
      audit(tx, actor, 'webhook.deleted', row)
    })
  },
})

/** Rows as their owner reads them. */
async function show(ctx: Context, rows: WebhookRow[]): Promise<Webhook[]> {
  const ids = rows.map(({ id }) => id)
  const waiting = new Map((await listWaiting(ctx.db, ids)).map((each) => [each.webhook_id, each]))
  const { feed } = ctx.streams.hub
  const unsent = await listUnsent(
    { db: ctx.db, feed },
    rows.filter(({ status }) => status === 'active'),
  )
  return rows.map((row) => {
    const { parked = 0, oldest_at } = waiting.get(row.id) ?? {}
    const all = [oldest_at, unsent.get(row.id)].filter((at) => at !== undefined)
    return toWebhook(row, { parked, oldest_at: all.length > 0 ? Math.min(...all) : undefined }, ctx.now())
  })
}

async function toAnswer(ctx: Context, row: WebhookRow): Promise<WebhookAnswer> {
  const [webhook] = await show(ctx, [row])
  return { webhook: webhook! }
}
