import * as v from 'valibot'
import { byActor } from '../../accounts/audit/rules.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fromCursor, toCursor } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { parseInput, useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { lockWithRight, requireReader, unlessOutside } from '../memberships/access.ts'
import type { Reaction } from '../messages/schema.ts'
import {
  composeReactionList,
  listReactionStates,
  type ReactionState,
  reactionsOf,
} from '../messages/store-reactions.ts'
import { addReactions } from './adding.ts'
import { publishChange } from './publishing.ts'
import { findKind } from './rules.ts'
import { Emoji, type ReactionPage, ReactionRemoval, ReactionsQuery } from './schema.ts'
import { deleteReactions, listReactions } from './store.ts'

/**
 * Adds the actor's reaction to a message and publishes an event. If it exists, nothing changes.
 *
 * @throws ChatError `validation_failed` for anything but one emoji or a name in colons; `not_found`; `forbidden` for a
 *   viewer or a read-only user; `message_deleted`; `conflict` for one emoji more than `limits.reactions_per_message`
 */
export const add = useCase({
  takes: ['actor', 'message_id', 'emoji'],
  errors: ['validation_failed', 'not_found', 'forbidden', 'message_deleted', 'conflict'],
  run: async (ctx, actor, messageId, emojiText): Promise<void> => {
    const { emoji } = parseInput(Named, { emoji: emojiText })
    const reaction = { actor, message_id: messageId, emoji }
    if (!actor.system)
      return void (await ctx.queues.reactions
        .add(reaction)
        .catch(unlessOutside(ctx, actor, { message_id: messageId }, 'react')))
    const [result] = await ctx.write((tx) => addReactions(ctx, tx, [reaction], { isSystem: true }))
    if (result instanceof ChatError) throw result
  },
})

const Named = v.object({ emoji: Emoji })

/**
 * Removes the actor's reaction, or with `all` those of all users with this emoji, and publishes an event. If there is
 * none, nothing changes.
 *
 * @throws ChatError as {@link add}; `forbidden` also with `all` unless the actor is owner or admin of the conversation
 */
export const remove = useCase({
  takes: ['actor', 'message_id', 'emoji'],
  input: ReactionRemoval,
  errors: ['validation_failed', 'not_found', 'forbidden', 'message_deleted', 'conflict'],
  frees: 'half',
  run: (ctx, actor, messageId, emojiText, { all }): Promise<void> =>
    removeFrom(ctx, actor, { message_id: messageId, ...parseInput(Named, { emoji: emojiText }), all }),
})

/**
 * Removes the reactions of all users with one emoji, for an owner or admin of the conversation.
 *
 * @throws ChatError as {@link remove} with `all`
 */
export const clear = useCase({
  takes: ['actor', 'message_id', 'emoji'],
  errors: remove.errors,
  run: (ctx, actor, messageId, emoji): Promise<void> => remove.run(ctx, actor, messageId, emoji, { all: true }),
})

/**
 * A page of the reactions to a message, oldest first, of all emoji or of one.
 *
 * @throws ChatError `not_found`; `message_deleted`; `invalid_cursor`
 */
export const list = useCase({
  takes: ['actor', 'message_id'],
  input: ReactionsQuery,
  errors: ['not_found', 'message_deleted', 'invalid_cursor'],
  run: (ctx, actor, messageId, { emoji, after, limit }): Promise<ReactionPage> => {
    return ctx.db.snapshot(async (db) => {
      const state = await findState(db, messageId)
      await requireReader(ctx, db, actor, state?.conversation_id)
      assertLive(state)
      const place = after === undefined ? FIRST : fromCursor(after)
      if (!place) throw new ChatError('invalid_cursor')
      const rows = await listReactions(db, messageId, emoji, place, limit + 1)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        reactions: page.map(({ emoji, user_id, at }) => ({ emoji, user_id, at: toInstant(at) })),
        ...(rows.length > limit && last && { next_after: toCursor({ at: last.at, id: last.user_id }) }),
      }
    })
  },
})

const FIRST = { at: 0, id: '' }

async function removeFrom(
  ctx: Context,
  actor: Actor,
  removal: { message_id: string; emoji: string; all: boolean | undefined },
): Promise<void> {
  const { message_id, all = false } = removal
  await ctx.write(async (tx) => {
    const [, state] = await Promise.all([
      lockWithRight(ctx, tx, actor, { message_id }, all ? 'moderate' : 'react'),
      findState(tx, message_id),
    ])
    const kind = findKind(assertLive(state), removal.emoji)
    const removed = await deleteReactions(tx, message_id, removal.emoji, all ? undefined : actor.user_id)
    if (removed === 0) return
    const emoji = kind?.emoji ?? removal.emoji
    const reactions = await composeReactionList(tx, message_id)
    publishChange(tx, state!, { action: all ? 'cleared' : 'removed', emoji, user_id: actor.user_id, reactions })
    if (!all) return
    const { conversation_id } = state!
    const detail = { conversation_id, emoji, count: removed }
    tx.audit({ act: 'reactions.cleared', ...byActor(actor), subject_id: message_id, conversation_id, detail })
  })
}

async function findState(db: Queries, messageId: string): Promise<ReactionState | undefined> {
  const [state] = await listReactionStates(db, [messageId])
  return state
}

/** The reactions of a message. @throws ChatError `message_deleted` */
function assertLive(state: ReactionState | undefined): Reaction[] {
  if (!state || state.is_deleted) throw new ChatError('message_deleted')
  return reactionsOf(state)
}
