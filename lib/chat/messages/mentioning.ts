import type { Tx } from '../../live/transaction/transaction.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import { lookUpMentions } from '../mentions/lookup.ts'
import {
  decideMentions,
  type KnownParticipants,
  type Mentioned,
  mentionsWanted,
  originsWithout,
} from '../mentions/rules.ts'
import { listAllParticipants, toColumns } from '../mentions/store.ts'
import { isForTask, notifyAllLater } from '../notifications/all.ts'
import { createNotificationBatch } from '../notifications/batch.ts'
import { createFollowerBatch } from '../notifications/followers.ts'
import { makeNotifications } from '../notifications/store-making.ts'
import { moveDirect } from '../notifications/store-moving.ts'
import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import type { MessageRow } from './store.ts'
import type { Parent } from './store-parents.ts'
import { findAuthors } from './store-quotes.ts'

/**
 * Decides which users each post of a batch mentions and notifies. A root that concerns none costs no statement. `undefined` for a
 * message that begins to stream, which is posted alone: it has no text yet.
 */
export function createMentioning(ctx: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  if (posts.some(({ input }) => input.stream)) return undefined
  const wanted = posts.map(({ input }) => mentionsWanted(input))
  const { default_level } = ctx.config.notifications
  const notifications = createNotificationBatch({ id: ctx.id, default_level })
  const decided = new Map<number, Mentioned>()
  const followers = createFollowerBatch(ctx)
  const later: MessageRow[] = []
  let known: ReadonlyMap<number, KnownParticipants> = new Map()
  const answering = createAnswering(posts)

  return {
    async load(tx, targets) {
      const these = targets.flatMap((target) => (wanted[target.n] ? { ...target, wanted: wanted[target.n]! } : []))
      const parents = new Set(targets.flatMap(({ parent_id }) => parent_id ?? []))
      const [participants] = await Promise.all([
        these.length > 0 ? lookUpMentions(tx, these) : known,
        answering.load(tx),
        followers.load(tx, [...parents]),
      ])
      known = participants
    },

    /** @throws ChatError `forbidden`, `conflict` as {@link decideMentions} */
    decide({ actor, input }, { target: { n, role, is_direct, policy } }) {
      if (!wanted[n]) {
        // The names in a text that was not to be searched stay text in an edit.
        const origins = input.mentions && originsWithout(input)
        return origins ? { mention_origins: JSON.stringify(origins) } : undefined
      }
      const writer = { actor, role, is_direct, policy }
      const mentioned = decideMentions(ctx, wanted[n], known.get(n)!, writer)
      decided.set(n, mentioned)
      return toColumns(mentioned)
    },

    add(row, _, { target: { n, is_direct }, parent }) {
      const { id, conversation_id, root_id, created_at: at, posted_by } = row
      const replied_to = answering.repliedTo(row, parent)
      const isPlain = row.mention_all === null && replied_to.length === 0
      if (isPlain && is_direct === 0 && !parent) return
      const { user_ids = [], all = false } = decided.get(n) ?? {}
      const persons = user_ids.map((user_id) => known.get(n)!.participating.get(user_id)!)
      const isLater = all && isForTask(known.get(n)!.participants)
      if (isLater) later.push(row)
      const message = { id, conversation_id, root_id, at, is_direct, author: posted_by!, replied_to }
      if (!isPlain || is_direct === 1) notifications.add({ ...message, persons, mentions_all: all && !isLater })
      if (is_direct === 1 || !parent) return
      if (!all) followers.add(message, [...replied_to, ...persons])
      if (parent.starts_following === 1 || user_ids.length > 0) followers.noteFollowing()
    },

    async store(tx) {
      const all = notifications.conversationsOfAll()
      if (all.size > 0) notifications.addAll(await listAllParticipants(tx, all))
      const { made, direct } = notifications.list()
      for (const message of later) notifyAllLater(tx, message, message.created_at)
      if (made.length > 0) tx.notify(makeNotifications(tx, made))
      if (direct.length > 0) tx.notify(moveDirect(tx, direct))
      await followers.store(tx)
    },
  }
}

/** Finds the authors of the messages that posts reply to, and of those that they quote. Without quotes it reads nothing. */
function createAnswering(posts: readonly NewPost[]) {
  const ids = new Set(posts.flatMap(({ input }) => input.quote_id ?? []))
  let authors: ReadonlyMap<string, ParticipantSettings> = new Map()
  return {
    async load(tx: Tx): Promise<void> {
      if (ids.size > 0) authors = await findAuthors(tx, ids)
    },

    /** The other participants whose messages a post replies to, without roots, or quotes. */
    repliedTo({ posted_by, quote_id }: MessageRow, parent: Parent | undefined): ParticipantSettings[] {
      const quoted = quote_id ? authors.get(quote_id) : undefined
      const ofQuote = quoted && quoted.user_id !== posted_by ? [quoted] : []
      // Replies to a root concern those who follow the thread.
      if (!parent?.replied_to || parent.depth === 0) return ofQuote
      const { replied_to: user_id, level, muted_until, archived } = parent
      return [{ user_id, level, muted_until, archived }, ...ofQuote.filter((other) => other.user_id !== user_id)]
    },
  }
}
