import { byActor } from '../../accounts/audit/rules.ts'
import type { Context } from '../../context.ts'
import { assertMay, assertMayModerate } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { DAY } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { listKeysWithTask } from '../../tasks/store.ts'
import { CANCELLED, endAnswer, REFUSED } from '../answers/ending.ts'
import { listChosen, replaceFiles } from '../attachments/attaching.ts'
import { setExpiry } from '../attachments/store.ts'
import { type LockedForChange, lockAsMember, refuseClosed, requireMember } from '../memberships/access.ts'
import { toStored } from '../memberships/store-conversations.ts'
import { showRestored } from '../notifications/changing.ts'
import { listThreads } from '../unread/store-listing.ts'
import { cancelAnswersTo } from './answers-to.ts'
import { countMessage, deleteMessage, toReplier } from './deleting.ts'
import { editMentions } from './edit-mentions.ts'
import { publishPin } from './pin-changes.ts'
import { reviewMessage } from './review.ts'
import { assertContentFits, assertNotEmpty, isRedacted } from './rules.ts'
import { Deletion, Edit } from './schema.ts'
import { findMessage, type MessageRow } from './store.ts'
import { markRestored, replaceMetadata, setGenerated } from './store-changes.ts'
import { countPins, setPin } from './store-pins.ts'
import { relistRepliers } from './store-replies.ts'
import { replaceContent } from './store-revisions.ts'
import { recount } from './store-threads.ts'

/**
 * Replaces the text of the actor's own message, and the metadata if it is given; the previous text is kept as a revision.
 * The users that the message mentions are decided again. With `attachment_ids` the message has these files.
 *
 * @throws ChatError `not_found`, also for a file; `attachment_not_ready`, `attachment_refused`; `forbidden` for another's message, a viewer or a read-only user; `message_deleted`;
 *   `message_streaming` for one in progress; `conflict` for `mentions.all` in too large a conversation, and in
 *   a direct conversation whose other person has no active account
 */
export const edit = useCase({
  takes: ['actor', 'message_id'],
  input: Edit,
  errors: [
    'not_found',
    'forbidden',
    'message_deleted',
    'message_streaming',
    'conflict',
    'attachment_not_ready',
    'attachment_refused',
  ],
  run: async (ctx, actor, messageId, input): Promise<void> => {
    assertContentFits(input.content, ctx.config.limits.message_bytes)
    const content = ctx.host.hooks.beforeMessage ? await review(ctx, actor, messageId, input) : input.content
    await ctx.write(
      async (tx) => {
        const { place, message: row } = await lockMessage(ctx, tx, actor, messageId)
        const { at } = place
        assertMay(ctx.access, { ...place, actor }, actOf(row))
        const message = assertEditable(actor, row)
        await refuseUnreviewed(ctx, tx, message)
        await refuseClosed(tx, place, actor)
        const { reason = null, metadata, attachment_ids, generated } = input
        if (attachment_ids?.length) assertMay(ctx.access, { ...place, actor }, 'attach')
        assertNotEmpty(content, attachment_ids ? attachment_ids.length > 0 : Boolean(message.attachment_list))
        await replaceContent(tx, messageId, { content, reason, at, keep: ctx.config.limits.revisions_per_message })
        if (metadata) await replaceMetadata(tx, messageId, toStored(metadata))
        if (generated !== undefined) await setGenerated(tx, messageId, generated)
        if (attachment_ids) await replaceFiles(ctx, tx, message, { user_id: actor.user_id, ids: attachment_ids })
        await editMentions(ctx, tx, message, { ...place, actor }, { content, mentions: input.mentions })
        tx.emit(message.conversation_id, { type: 'message.edited', message_id: messageId })
      },
      { full_disk: 'refused' },
    )
  },
})

/** An edit takes what the message took. */
const actOf = ({ parent_id }: MessageRow) => (parent_id === null ? 'post' : 'reply')

/** @throws ChatError `forbidden`, `message_deleted`, `message_streaming` */
function assertEditable(actor: Actor, message: MessageRow): MessageRow {
  if (message.posted_by !== actor.user_id)
    throw new ChatError('forbidden', { reason: 'participant_role', right: 'post' })
  if (message.deleted_at) throw new ChatError('message_deleted')
  if (isUnderWay(message)) throw new ChatError('message_streaming')
  return message
}

/**
 * An edit would keep the text as a revision that was cut off before the host has seen all of it.
 *
 * @throws ChatError `message_streaming`
 */
async function refuseUnreviewed({ host }: Context, tx: Tx, { id, role, finish_reason }: MessageRow): Promise<void> {
  if (!host.hooks.beforeMessage || role === 'assistant' || finish_reason === null) return
  if ((await listKeysWithTask(tx, 'message.review', [id])).size > 0)
    throw new ChatError('message_streaming', { message: 'The application still checks the text so far.' })
}

/** The text of an edit after the host's hook, which gets no edit that is refused anyway. */
async function review(ctx: Context, actor: Actor, message_id: string, input: Edit): Promise<string> {
  const { content, metadata, attachment_ids } = input
  const row = await findMessage(ctx.db, message_id)
  const membership = await requireMember(ctx, ctx.db, actor, row?.conversation_id, { act: row && actOf(row) })
  assertMay(ctx.access, { ...membership, actor }, actOf(row!))
  const { conversation_id, parent_id, quote_id, ...message } = assertEditable(actor, row!)
  const ids = { message_id, ...(parent_id && { parent_id }), ...(quote_id && { quote_id }) }
  const place = { conversation_id, ...ids, role: message.role }
  const chosen = attachment_ids && { ids: attachment_ids, user_id: actor.user_id, conversation_id, message_id }
  const files = chosen && { attachments: await listChosen(ctx, chosen) }
  return reviewMessage(ctx, { actor, ...place, content, ...(metadata && { metadata }), ...files })
}

/**
 * Deletes a message: its text can no longer be read, its replies stay. An answer in progress is cancelled.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer, and for another's message unless the actor is an owner or
 *   admin of the conversation; `message_deleted` for a deleted message
 */
export const remove = useCase({
  takes: ['actor', 'message_id'],
  input: Deletion,
  errors: ['not_found', 'forbidden', 'message_deleted', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, messageId, input): Promise<void> => {
    const cancelled = await ctx.write(async (tx) => {
      const { message, place } = await lockMessage(ctx, tx, actor, messageId)
      assertMayModerate(ctx.access, { ...place, actor }, { author: message.posted_by })
      if (message.deleted_at) throw new ChatError('message_deleted')
      const answer = { message_id: messageId, conversation_id: message.conversation_id }
      const isStopped = await endAnswer(tx, answer, CANCELLED)
      const answering = await cancelAnswersTo(tx, message)
      if (message.attachment_list) await setExpiry(tx, messageId, place.at + ctx.config.attachments.deleted_days * DAY)
      if (message.posted_by !== actor.user_id) auditDeletion(tx, actor, message)
      await deleteMessage(tx, message, { at: place.at, by: actor.user_id, reason: input.reason })
      return isStopped ? [messageId] : answering
    })
    for (const id of cancelled) ctx.answers.ended(id)
  },
})

/** Without the reason, which only users who may restore the message can read. */
function auditDeletion(tx: Tx, actor: Actor, { id, conversation_id, posted_by }: MessageRow): void {
  const detail = { ...(posted_by !== null && { author_id: posted_by }) }
  tx.audit({ act: 'message.deleted', ...byActor(actor), subject_id: id, conversation_id, detail })
}

/**
 * Restores a deleted message.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor deleted it, or is owner or admin of the
 *   conversation; `message_not_deleted`; `conflict` if the text was erased together with its author
 */
export const restore = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found', 'forbidden', 'message_not_deleted', 'conflict'],
  run: async (ctx, actor, messageId): Promise<void> => {
    await ctx.write(async (tx) => {
      const { message, place } = await lockMessage(ctx, tx, actor, messageId)
      // What the host has refused at its end, its author does not bring back.
      const isRefused = message.finish_reason === REFUSED || message.failure === REFUSED
      const author = isRefused ? null : (message.deleted_by ?? message.posted_by)
      assertMayModerate(ctx.access, { ...place, actor }, { author })
      if (!message.deleted_at) throw new ChatError('message_not_deleted')
      if (isRedacted(message)) throw new ChatError('conflict', { message: 'Its text is gone with its author.' })
      const isUnpinned = await unpinBeyond(ctx, tx, message)
      if (message.attachment_list) await setExpiry(tx, messageId, null)
      await recount(tx, message, 1, () => markRestored(tx, messageId))
      await relistRepliers(tx, message.root_id, { added: toReplier(message) })
      if (message.id !== message.root_id) await listThreads(tx, [message.root_id])
      tx.publishCounts(await showRestored(tx, message))
      countMessage(tx, message, 1)
      tx.emit(message.conversation_id, { type: 'message.restored', message_id: messageId })
      if (isUnpinned) publishPin(tx, message, { user_id: actor.user_id, action: 'removed', at: place.at })
    })
  },
})

/** A pin comes back with its message, unless the conversation has all the pins it may have. */
async function unpinBeyond(
  { config }: Context,
  tx: Tx,
  { id, conversation_id, pinned_at }: MessageRow,
): Promise<boolean> {
  if (!pinned_at || (await countPins(tx, conversation_id)) < config.limits.pins) return false
  await setPin(tx, id)
  return true
}

async function lockMessage(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  messageId: string,
): Promise<{ message: MessageRow; place: LockedForChange }> {
  const place = await lockAsMember(ctx, tx, actor, { message_id: messageId })
  return { message: (await findMessage(tx, messageId))!, place }
}
