import type { Context } from '../../context.ts'
import { refusal, toRefused } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { emojiKey } from '../../core/emoji.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { createWriteQueue, type WriteQueue } from '../../live/transaction/write-queue.ts'
import { CLOSED } from '../memberships/rules.ts'
import { createClocks } from '../messages/batch.ts'
import type { Reaction } from '../messages/schema.ts'
import { type LockedTarget, lockTargets } from '../messages/store-posts.ts'
import { listReactionStates, type ReactionState, reactionsOf, setReactionLists } from '../messages/store-reactions.ts'
import { publishChange } from './publishing.ts'
import { findKind, withReaction } from './rules.ts'
import { insertReactions, listReacted, type ReactionRow } from './store.ts'

/** A reaction to be added. */
export interface NewReaction {
  actor: Actor
  message_id: string
  emoji: string
}

/** The result of a reaction that exists from then on. */
type Added = Pick<NewReaction, 'message_id'>

/** Adds reactions; those that wait at the same time share a transaction. */
export type ReactionQueue = WriteQueue<NewReaction, Added>

/** Creates the queue of reactions of one process. Its errors are those of {@link addReactions}. */
export function createReactionQueue(ctx: Pick<Context, 'access' | 'config' | 'db' | 'now' | 'write'>): ReactionQueue {
  return createWriteQueue<NewReaction, Added>(ctx, {
    store: (tx, reactions, options) => addReactions(ctx, tx, reactions, options),
    targetOf: ({ message_id }) => message_id,
  })
}

const TOO_MANY = {
  message: 'The message has reactions with as many emoji as it may have (limits.reactions_per_message).',
}

/**
 * Adds any number of reactions in one transaction, with the same number of statements, and publishes an event for each
 * that is new. A refused one changes nothing, and does not affect the others.
 *
 * @param options as of `addPosts`
 * @returns the result of each, in their order: `not_found` for a message outside of the actor's conversations; `forbidden`
 *   for a viewer or a read-only user; `message_deleted`; `conflict` for one emoji too many, or in a closed conversation
 */
export async function addReactions(
  { access, config, now }: Pick<Context, 'access' | 'config' | 'now'>,
  tx: Tx,
  given: readonly NewReaction[],
  options: { unlessLocked?: boolean; isSystem?: boolean } = {},
): Promise<(Added | ChatError | undefined)[]> {
  const targets = given.map(({ actor, message_id }, n) => {
    return { n, conversation_id: null, parent_id: message_id, user_id: actor.user_id }
  })
  const keys = given.map(({ actor, message_id, emoji }, n) => {
    return { n, message_id, emoji_key: emojiKey(emoji), user_id: actor.user_id }
  })
  // One round trip: the lock is taken before the others are read.
  const [locked, states, existing] = await Promise.all([
    lockTargets(tx, targets, options),
    listReactionStates(tx, new Set(given.map(({ message_id }) => message_id))),
    listReacted(tx, keys),
  ])
  const targetBy = new Map(locked.map((target) => [target.n, target]))
  const batch = createBatch(states, { access, now, most: config.limits.reactions_per_message })
  const isThere = new Set(existing.map(({ n }) => keyOf(keys[n]!)))
  const results = given.map((reaction, n) => {
    const target = targetBy.get(n)
    if (!target) return options.unlessLocked && tx.dialect === 'postgresql' ? undefined : new ChatError('not_found')
    const key = keyOf(keys[n]!)
    const result = batch.add(reaction, target, isThere.has(key))
    if (!(result instanceof ChatError)) isThere.add(key)
    return result
  })
  const { rows, lists, changes } = batch.changes()
  tx.defer(insertReactions(tx, rows))
  tx.defer(setReactionLists(tx, lists))
  for (const { state, at, emoji, user_id, reactions } of changes) {
    tx.advanceClock(state.conversation_id, at)
    publishChange(tx, state, { action: 'added', emoji, user_id, reactions })
  }
  return results
}

const keyOf = ({ message_id, emoji_key, user_id }: Record<'message_id' | 'emoji_key' | 'user_id', string>) =>
  `${message_id} ${user_id} ${emoji_key}`

/** Collects reactions. Each takes the earlier ones into account, although none is stored yet. */
function createBatch(
  states: readonly ReactionState[],
  { access, now, most }: Pick<Context, 'access' | 'now'> & { most: number },
) {
  const advance = createClocks(now)
  const stateBy = new Map(states.map((state) => [state.id, state]))
  const lists = new Map<string, Reaction[]>()
  const rows: ReactionRow[] = []
  const changes: { state: ReactionState; at: number; emoji: string; user_id: string; reactions: Reaction[] }[] = []

  return {
    changes: () => ({ rows, lists: [...lists].map(([id, list]) => ({ id, list })), changes }),

    add({ actor, message_id, emoji }: NewReaction, target: LockedTarget, isThere: boolean): Added | ChatError {
      const refused = refusal(access, { ...target, actor }, 'react')
      if (refused) return toRefused(refused)
      const state = stateBy.get(message_id)
      if (!state || state.is_deleted) return new ChatError('message_deleted')
      if (isThere) return { message_id }
      if (target.is_closed === 1) return new ChatError('conflict', CLOSED)
      const list = lists.get(message_id) ?? reactionsOf(state)
      const kind = findKind(list, emoji)
      if (!kind && list.length >= most) return new ChatError('conflict', TOO_MANY)
      const { user_id } = actor
      const added = { message_id, user_id, emoji: kind?.emoji ?? emoji, at: advance(target) }
      const reactions = withReaction(list, added.emoji, user_id)
      lists.set(message_id, reactions)
      rows.push(added)
      changes.push({ state, at: added.at, emoji: added.emoji, user_id, reactions })
      return { message_id }
    },
  }
}
