import { byActor } from '../../accounts/audit/rules.ts'
import { assertOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { lockAsSystem } from '../memberships/access.ts'
import { layoutOf } from '../memberships/rules-look.ts'
import { findConversation, toFields } from '../memberships/store-conversations.ts'
import { hide } from './removal.ts'
import {
  AllConversationsQuery,
  type ConversationFacts,
  type ConversationOverview,
  type ConversationsPage,
  type OverviewRow,
} from './schema-operator.ts'
import { findOverview, listOverviews, listPeopleOf } from './store-operator.ts'

/** The participants that are shown of a conversation. */
const MAX_SHOWN = 200

/**
 * A page of all conversations with their counts and no texts of messages, oldest first.
 *
 * @throws ChatError `forbidden` unless the actor is the operator
 */
export const listAll = useCase({
  takes: ['actor'],
  input: AllConversationsQuery,
  errors: ['forbidden'],
  run: async (ctx, actor, { after, limit, user_id, ref }): Promise<ConversationsPage> => {
    assertOperator(actor)
    const rows = await listOverviews(ctx.db, { after: after ?? '', limit: limit + 1, user_id, ref })
    const conversations = rows.slice(0, limit).map(toOverview)
    return { conversations, ...(rows.length > limit && { next_after: conversations.at(-1)!.id }) }
  },
})

/**
 * A conversation with its counts, what its owners have set and its first participants, and no texts of messages.
 *
 * @throws ChatError `forbidden` unless the actor is the operator; `not_found`
 */
export const describe = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['forbidden', 'not_found'],
  run: async (ctx, actor, conversationId): Promise<ConversationFacts> => {
    assertOperator(actor)
    return ctx.db.snapshot(async (db) => {
      const row = await findOverview(db, conversationId)
      if (!row) throw new ChatError('not_found')
      const { topic, icon, visibility, policy, assistant, auto_join, frozen_at } = toFields(
        (await findConversation(db, conversationId))!,
      )
      return {
        ...toOverview(row),
        ...(topic !== undefined && { topic }),
        ...(icon !== undefined && { icon }),
        visibility,
        policy,
        ...(assistant && { assistant }),
        ...(auto_join && { auto_join }),
        ...(frozen_at && { frozen_at }),
        participants: await listPeopleOf(db, conversationId, MAX_SHOWN),
      }
    })
  },
})

/**
 * Deletes any conversation, as its owner does: it is hidden at once, and a background task removes its content.
 *
 * @throws ChatError `forbidden` unless the actor is the operator; `not_found`
 */
export const removeAny = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['forbidden', 'not_found'],
  frees: 'half',
  run: async (ctx, actor, conversationId): Promise<void> => {
    assertOperator(actor)
    await ctx.write(async (tx) => {
      const at = await lockAsSystem(ctx, tx, conversationId)
      if (at === undefined) throw new ChatError('not_found')
      await hide(tx, conversationId, { at, by: byActor(actor) })
      tx.recheckStreams({ conversation_id: conversationId })
    })
  },
})

function toOverview({
  is_group,
  is_direct,
  layout,
  ref,
  created_at,
  active_at,
  ...row
}: OverviewRow): ConversationOverview {
  return {
    ...row,
    is_group: is_group === 1,
    layout: layoutOf({ is_direct, layout }),
    ...(ref !== null && { ref }),
    created_at: toInstant(created_at),
    last_activity_at: toInstant(active_at),
  }
}
