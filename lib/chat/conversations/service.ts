import { byActor } from '../../accounts/audit/rules.ts'
import { assertPerson, mayWrite } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fromCursor, toCursor } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { findPosition } from '../../live/log.ts'
import { isErasing, sumUnread } from '../unread/store.ts'
import { lockAsMember, requireMember } from './access.ts'
import { hide } from './removal.ts'
import {
  type Conversation,
  ConversationInput,
  type ConversationPage,
  type ConversationSummary,
  ConversationsQuery,
  type CreatedConversation,
  Rename,
} from './schema.ts'
import { findFirst, shown } from './service-participants.ts'
import {
  findConversation,
  insertConversation,
  insertParticipant,
  listConversations,
  toFields,
  updateTitle,
} from './store.ts'

/**
 * Creates a conversation; the actor becomes its owner.
 *
 * @throws ChatError `forbidden` for a read-only user, and for the operator
 */
export const create = useCase({
  takes: ['actor'],
  input: ConversationInput,
  errors: ['forbidden'],
  run: async (ctx, actor, input): Promise<CreatedConversation> => {
    assertPerson(actor)
    if (!mayWrite(actor.roles)) throw new ChatError('forbidden')
    const row = { id: ctx.id(), title: input.title, is_group: input.is_group ? 1 : 0, created_at: ctx.now() }
    const people = await ctx.write(async (tx) => {
      await insertConversation(tx, row)
      await insertParticipant(tx, row.id, { user_id: actor.user_id, role: 'owner', joined_at: row.created_at })
      tx.emit(row.id, {
        type: 'membership.changed',
        user_id: actor.user_id,
        detail: { role: 'owner', action: 'added' },
      })
      return findFirst(tx, row.id)
    })
    return { conversation_id: row.id, conversation: { ...toFields(row), ...(await shown(ctx, people)) } }
  },
})

/** @throws ChatError `not_found` */
export const get = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found'],
  run: async (ctx, actor, conversationId): Promise<Conversation> => {
    const { row, people, stream_position } = await ctx.db.snapshot(async (db) => {
      await requireMember(db, actor, conversationId)
      return {
        row: (await findConversation(db, conversationId))!,
        people: await findFirst(db, conversationId),
        stream_position: await findPosition(db, conversationId),
      }
    })
    return { ...toFields(row), ...(await shown(ctx, people)), stream_position }
  },
})

/**
 * A page of the actor's conversations, latest activity first.
 *
 * @throws ChatError `invalid_cursor`
 */
export const list = useCase({
  takes: ['actor'],
  input: ConversationsQuery,
  errors: ['invalid_cursor'],
  run: (ctx, actor, input): Promise<ConversationPage> => {
    const after = input.after === undefined ? LATEST : fromCursor(input.after)
    if (!after) throw new ChatError('invalid_cursor')
    return ctx.db.snapshot(async (db) => {
      const { user_id } = actor
      const rows = await listConversations(db, user_id, after, input.limit + 1)
      const page = rows.slice(0, input.limit)
      const isCounted = !(await isErasing(db))
      const conversations: ConversationSummary[] = []
      for (const row of page) {
        conversations.push({
          ...toFields(row),
          role: row.role,
          participant_count: row.participant_count,
          unread: isCounted || row.unread === 0 ? row.unread : await sumUnread(db, { user_id, ...row }, row.id),
          last_activity_at: toInstant(row.clock),
        })
      }
      const last = rows.length > input.limit ? page.at(-1) : undefined
      return { conversations, ...(last && { next_after: toCursor({ at: last.clock, id: last.id }) }) }
    })
  },
})

const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/**
 * Changes the title of a conversation and publishes an event.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor is its owner
 */
export const rename = useCase({
  takes: ['actor', 'conversation_id'],
  input: Rename,
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, conversationId, input): Promise<Conversation> => {
    await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
      if (place.role !== 'owner') throw new ChatError('forbidden')
      await updateTitle(tx, conversationId, input.title)
      tx.emit(conversationId, { type: 'conversation.updated' })
    })
    return get.run(ctx, actor, conversationId)
  },
})

/**
 * Deletes a conversation: it is hidden at once, and its streams close. A background task removes its content.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor is its owner
 */
export const remove = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, conversationId): Promise<void> => {
    await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
      if (place.role !== 'owner') throw new ChatError('forbidden')
      await hide(tx, conversationId, place.at)
      tx.audit({ act: 'conversation.deleted', ...byActor(actor), subject_id: conversationId })
      tx.recheckStreams({ conversation_id: conversationId })
    })
  },
})
