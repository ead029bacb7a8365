import { assertUser, isProgram } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { spendBotMessage } from '../../limits/spending.ts'
import type { Queries } from '../../storage/database.ts'
import { findAnswered } from '../commands/store.ts'
import { lockWithRight, requireMember } from '../memberships/access.ts'
import { findMembership } from '../memberships/store.ts'
import { assertContentFits } from '../messages/rules.ts'
import { findMessage } from '../messages/store.ts'
import { announceEnded } from './ending.ts'
import { type CreatedNotice, NoticeInput, type Notices } from './schema.ts'
import { deleteNotice, deleteOldestNotices, insertNotice, listNotices, listNoticesById, toNotice } from './store.ts'

/** The number of live notices of a participant in a conversation: a new one takes the place of the oldest. */
const MAX_LIVE = 100

/**
 * Shows a text to one participant of a conversation, for a time. It is no message: no other user reads it.
 *
 * @throws ChatError `forbidden` unless the actor is a bot or a system actor, and without the right to post; `not_found`, also
 *   for a user who does not participate, for a thread of another conversation and for a call of another program;
 *   `conflict` in a frozen conversation; `rate_limited`
 */
export const create = useCase({
  takes: ['actor', 'conversation_id'],
  input: NoticeInput,
  errors: ['not_found', 'forbidden', 'conflict', 'validation_failed'],
  run: async (ctx, actor, conversationId, input): Promise<CreatedNotice> => {
    const { user_id, content, root_id, invocation_id, ttl_seconds } = input
    if (!isProgram(actor)) {
      // Whether the conversation exists is no outsider's business.
      await requireMember(ctx, ctx.db, actor, conversationId)
      throw new ChatError('forbidden', NO_PROGRAM)
    }
    assertContentFits(content, MAX_LENGTH.notice)
    // One of a conversation in which the bot does not participate is refused below, and not counted.
    if (actor.is_bot && (await findMembership(ctx.db, conversationId, actor.user_id)))
      await spendBotMessage(ctx, actor.user_id, conversationId)
    return ctx.write(async (tx) => {
      const { at } = await lockWithRight(ctx, tx, actor, { conversation_id: conversationId }, 'post')
      if (!(await findMembership(tx, conversationId, user_id)))
        throw new ChatError('not_found', { message: 'The conversation has no such participant.' })
      if (root_id !== undefined) await assertThread(tx, root_id, conversationId)
      const asked = { bot_id: actor.user_id, conversation_id: conversationId }
      const call = invocation_id && (await findAnswered(tx, { id: invocation_id, ...asked }, ctx.now()))
      if (invocation_id && !call) throw new ChatError('not_found', { message: 'There is no such call.' })
      const row = {
        id: ctx.id(),
        conversation_id: conversationId,
        user_id,
        author_user_id: actor.user_id,
        root_id: root_id ?? null,
        invoked_by: call ? call.user_id : null,
        invoked_name: call ? call.name : null,
        content,
        created_at: at,
        expires_at: at + ttl_seconds * SECOND,
      }
      announceEnded(tx, await deleteOldestNotices(tx, row, MAX_LIVE - 1))
      await insertNotice(tx, row)
      const notice = toNotice(row)
      tx.emitPrivate(user_id, conversationId, { type: 'notice.new', payload: { notice } }, { notice_id: row.id })
      return { notice }
    })
  },
})

/**
 * The actor's own live notices in a conversation, oldest first.
 *
 * @throws ChatError `not_found`
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, conversationId): Promise<Notices> => {
    await requireMember(ctx, ctx.db, actor, conversationId)
    const place = { user_id: actor.user_id, conversation_id: conversationId }
    return { notices: (await listNotices(ctx.db, place, ctx.now())).map(toNotice) }
  },
})

/**
 * Deletes a notice: its reader dismisses it, or its author takes it back.
 *
 * @throws ChatError `not_found`, also for a reader who does not participate any more
 */
export const remove = useCase({
  takes: ['actor', 'notice_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, noticeId): Promise<void> => {
    assertUser(actor)
    await ctx.write(async (tx) => {
      const [notice] = await listNoticesById(tx, [noticeId], ctx.now())
      const isAuthor = notice?.author_user_id === actor.user_id
      const isReader = notice?.user_id === actor.user_id
      if (!notice || !(isAuthor || isReader)) throw new ChatError('not_found')
      if (!isAuthor && !(await findMembership(tx, notice.conversation_id, actor.user_id)))
        throw new ChatError('not_found')
      const ended = await deleteNotice(tx, noticeId)
      if (!ended) throw new ChatError('not_found')
      announceEnded(tx, [ended])
    })
  },
})

/** What persons write to each other, all participants read. */
const NO_PROGRAM = { reason: 'role' as const, message: 'Bots and system actors alone give notices.' }

/** @throws ChatError `not_found` unless a thread is one of a conversation, and not deleted */
async function assertThread(db: Queries, rootId: string, conversationId: string): Promise<void> {
  const root = await findMessage(db, rootId)
  if (root?.conversation_id !== conversationId || root.parent_id !== null || root.deleted_at)
    throw new ChatError('not_found', { message: 'The conversation has no such thread.' })
}
