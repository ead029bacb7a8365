import { byActor } from '../../accounts/audit/rules.ts'
import { requireConfirmation } from '../../accounts/sessions/service-confirmation.ts'
import { PLACEHOLDER_DOMAINS } from '../../accounts/users/rules.ts'
import { addNamedUser } from '../../accounts/users/service.ts'
import { lockUser } from '../../accounts/users/store.ts'
import { lockForInvites, requireInviteReader } from '../../chat/memberships/access.ts'
import { refuseDirect } from '../../chat/memberships/rules.ts'
import { insertFormer } from '../../chat/memberships/store-former.ts'
import { postRoot, reply } from '../../chat/messages/service.ts'
import { findMessage } from '../../chat/messages/store.ts'
import { linkBaseOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { assertHasRight, assertMay } from '../../core/access.ts'
import { type Actor, refuseGuests, refuseKeys } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { invoke, useCase } from '../../core/use-case.ts'
import { spendHook } from '../../limits/spending.ts'
import { findServiceId } from '../../storage/secret.ts'
import { toMessage } from './rules.ts'
import { type CreatedHook, HookInput, type HookMessage, HookPost, type IncomingHooks } from './schema.ts'
import { deleteHook, findHookByHash, insertHook, listHooks, toHook } from './store.ts'

/** The maximum number of hooks of a conversation. */
const MAX_HOOKS = 20

/**
 * Makes an address at which a tool posts into a conversation. The address is returned only here; the database has a digest.
 *
 * @throws ChatError `not_found` unless hooks are enabled, and for a thread of another conversation; `forbidden` below admin,
 *   and with an API key or a token; `confirmation_required`; `conflict` in a direct or frozen conversation, and with too many
 */
export const create = useCase({
  takes: ['actor', 'conversation_id'],
  input: HookInput,
  errors: ['not_found', 'forbidden', 'confirmation_required', 'conflict'],
  run: async (ctx, actor, conversationId, { name, root_id }): Promise<CreatedHook> => {
    assertOffered(ctx)
    refuseKeys(actor)
    refuseGuests(actor)
    const token = newToken()
    return ctx.write(async (tx) => {
      const place = await lockForInvites(ctx, tx, actor, conversationId)
      assertMay(ctx.access, { ...place, actor }, 'manage')
      refuseDirect(place, 'its two people own it')
      // A lockdown either finds the hook, or has ended the session before.
      await lockUser(tx, actor.user_id)
      await requireConfirmation(ctx, tx, actor)
      const root = root_id === undefined ? undefined : await findMessage(tx, root_id)
      if (root_id !== undefined && (root?.conversation_id !== conversationId || root.parent_id !== null))
        throw new ChatError('not_found', { message: 'The conversation has no such thread.' })
      if ((await listHooks(tx, conversationId)).length >= MAX_HOOKS)
        throw new ChatError('conflict', { message: `A conversation has at most ${MAX_HOOKS} hooks: delete one first.` })
      const bot = await addNamedUser(ctx, tx, {
        display_name: name,
        email: `${ctx.id()}@${PLACEHOLDER_DOMAINS.bot}`,
        email_verified: false,
        password_hash: null,
        roles: ['member'],
        kind: 'bot',
      })
      const row = {
        id: ctx.id(),
        conversation_id: conversationId,
        bot_id: bot.id,
        root_id: root_id ?? null,
        created_by: actor.user_id || null,
        created_at: ctx.now(),
      }
      // It has names there, as a user who has left, and its messages have an author.
      await insertFormer(tx, conversationId, bot.id)
      await insertHook(tx, { ...row, token_hash: digest(token) })
      const about = { subject_id: bot.id, conversation_id: conversationId, names: { key: name } }
      tx.audit({ act: 'hook.created', ...byActor(actor), ...about })
      return { hook: toHook({ ...row, name }), url: `${linkBaseOf(ctx.config)}/api/hooks/${token}` }
    })
  },
})

/** The hooks of a conversation, oldest first. @throws ChatError `not_found`; `forbidden` below admin, and with an API key */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, conversationId): Promise<IncomingHooks> => {
    assertOffered(ctx)
    refuseKeys(actor)
    const { role } = await requireInviteReader(ctx, ctx.db, actor, conversationId)
    assertHasRight(ctx.access, role, 'manage')
    return { hooks: (await listHooks(ctx.db, conversationId)).map(toHook) }
  },
})

/**
 * Deletes a hook: its address is unknown from the next call on. What it has posted stays, with its author.
 *
 * @throws ChatError `not_found`; `forbidden` below admin, and with an API key or a token
 */
export const remove = useCase({
  takes: ['actor', 'conversation_id', 'hook_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, conversationId, hookId): Promise<void> => {
    assertOffered(ctx)
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      const place = await lockForInvites(ctx, tx, actor, conversationId)
      // Also of a frozen one: it ends what others may do there.
      assertMay(ctx.access, { ...place, frozen_at: null, actor }, 'manage')
      const hook = await deleteHook(tx, { id: hookId, conversation_id: conversationId })
      if (!hook) throw new ChatError('not_found')
      const about = { subject_id: hook.bot_id, conversation_id: conversationId }
      tx.audit({ act: 'hook.deleted', ...byActor(actor), ...about })
    })
  },
})

/**
 * Posts what a tool sends to the address of a hook. The author is the bot of the hook: no policy binds it.
 *
 * @returns the message; `undefined` for a body of Slack, whose tools expect no message
 * @throws ChatError `not_found` for an unknown token, and for a parent that is not in the conversation; `conflict` in a frozen
 *   conversation, and for what this service has sent itself; `validation_failed` without a text; `rate_limited`; else as
 *   `messages.postRoot`
 */
export const post = useCase({
  takes: ['token'],
  input: HookPost,
  errors: [
    'not_found',
    'conflict',
    'forbidden',
    'validation_failed',
    'message_deleted',
    'thread_too_deep',
    'idempotency_mismatch',
  ],
  run: async (ctx, token, { idempotency_key, origin, ...body }): Promise<HookMessage | undefined> => {
    assertOffered(ctx)
    const hook = await findHookByHash(ctx.db, digest(token))
    if (!hook) throw new ChatError('not_found')
    if (origin !== undefined && origin === (await findServiceId(ctx.db)))
      throw new ChatError('conflict', { message: 'This service has sent it: a hook does not answer its own events.' })
    await spendHook(ctx, hook.id)
    const { is_slack, parent_id: parent, ...message } = toMessage(body, ctx.config.limits.message_bytes)
    const actor: Actor = { user_id: hook.bot_id, roles: ['member'], is_bot: true, system: hook.name }
    const parent_id = parent ?? hook.root_id ?? undefined
    if (parent_id !== undefined && !(await isIn(ctx, parent_id, hook.conversation_id))) throw new ChatError('not_found')
    const input = { ...message, ...(idempotency_key !== undefined && { idempotency_key }) }
    const posted = (await (parent_id === undefined
      ? invoke(ctx, postRoot, [actor, hook.conversation_id], input)
      : invoke(ctx, reply, [actor, parent_id], input))) as HookMessage
    ctx.metrics.hooked()
    if (is_slack) return undefined
    const { message_id, root_id, idempotency_replayed } = posted
    return { message_id, root_id, ...(idempotency_replayed && { idempotency_replayed }) }
  },
})

async function isIn({ db }: Pick<Context, 'db'>, messageId: string, conversationId: string): Promise<boolean> {
  return (await findMessage(db, messageId))?.conversation_id === conversationId
}

/** @throws ChatError `not_found` unless hooks are enabled */
function assertOffered({ config }: Pick<Context, 'config'>): void {
  if (!config.hooks.enabled) throw turnedOff('hooks.enabled')
}
