import type { Access } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { countWithin, fit, jsonBytes } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import type { Membership } from '../memberships/access.ts'
import { withOwn, withTexts } from '../messages/completing.ts'
import { sizeOfMessage } from '../messages/size.ts'
import { type LightMessageRow, listLightMessages, toMessageFor } from '../messages/store.ts'
import { listReplyStates, toReplyState } from '../messages/store-replies.ts'
import { findFirstUnread } from '../unread/first-unread.ts'
import { countUnread, type ThreadReader } from '../unread/store.ts'
import { listUnreadAmong } from '../unread/store-membership.ts'
import { findBegin } from './places.ts'
import { byDistance, type List, toCursor } from './rules.ts'
import type { RepliesQuery, TimelineMessage, TimelinePage } from './schema.ts'
import { listNewer, listOlder } from './store.ts'

/** The caller of a read: a participant, or a system actor or a reader who does not participate: they have no unread messages. */
export interface Caller extends Membership {
  access: Access
  actor: Actor
  conversation_id: string
}

/** What a page has whatever list it is of; that of a thread has the root, too. */
interface Page extends Omit<TimelinePage, 'conversation_id'> {
  root?: TimelineMessage
}

/** The size of a message with the fields that it has in a list by arrival. */
const sizeInList = (message: TimelineMessage) => sizeOfMessage(message) + jsonBytes(message.thread?.title ?? '') + 500

/**
 * Reads a page of a list. If messages are long it ends early, and has those next to where it begins.
 *
 * @throws ChatError `not_found`, `invalid_cursor` for its place
 */
export async function readPage(db: Queries, caller: Caller, list: List, input: RepliesQuery): Promise<Page> {
  const reader = toReader(caller)
  const firstUnread = reader && (await findFirstUnread(db, reader, list))
  const begin = await findBegin(db, list, input, firstUnread)
  const [older, newer] = await Promise.all([
    listOlder(db, list, begin.point, begin.older + 1),
    listNewer(db, list, begin.point - 1, begin.newer + 1),
  ])
  const nearest = byDistance({ older: older.slice(0, begin.older), newer: newer.slice(0, begin.newer) })
  const ids = nearest.map(({ id }) => id)
  const { root, messages } = await loadMessages(db, caller, list.view === 'thread' ? list.id : undefined, ids)
  const arrivals = nearest.slice(0, messages.length).map(({ at }) => at)
  const olderCount = arrivals.filter((at) => at < begin.point).length
  const hasOlder = older.length > olderCount
  const hasNewer = newer.length > messages.length - olderCount
  return {
    ...(root && { root }),
    messages: messages.sort((a, b) => (a.created_at < b.created_at ? -1 : 1)),
    ...(hasOlder && { next_before: toCursor(list, Math.min(begin.point, ...arrivals)) }),
    ...(hasNewer && { next_after: toCursor(list, Math.max(begin.point - 1, ...arrivals)) }),
    ...(firstUnread !== undefined && { first_unread_id: (await listNewer(db, list, firstUnread - 1, 1))[0]!.id }),
  }
}

const toReader = (caller: Caller): ThreadReader | undefined =>
  caller.actor.system === undefined && !caller.is_outside ? { ...caller, user_id: caller.actor.user_id } : undefined

/** Reads the first of these messages, as many as fit into a page beside the root: at least one. */
async function loadMessages(
  db: Queries,
  caller: Caller,
  rootId: string | undefined,
  ids: string[],
): Promise<{ root?: TimelineMessage; messages: TimelineMessage[] }> {
  const all = rootId === undefined ? ids : [rootId, ...ids]
  const light = new Map((await listLightMessages(db, all)).map((row) => [row.id, row]))
  const rows = all.flatMap((id) => light.get(id) ?? [])
  const least = rootId === undefined ? 1 : 2
  const count = Math.max(least, countWithin(rows.map(({ size }) => size)))
  const composed = await compose(db, caller, rows.slice(0, count))
  const fitting = composed.slice(0, Math.max(least, fit(composed, sizeInList).length))
  await withOwn(db, caller.actor.user_id, fitting)
  if (rootId === undefined) return { messages: fitting }
  const [root, ...messages] = fitting
  return { root: root!, messages }
}

/** Messages with what is theirs in a list: whether they are unread, and what roots say of their threads. */
async function compose(db: Queries, caller: Caller, light: LightMessageRow[]): Promise<TimelineMessage[]> {
  const rows = await withTexts(db, light)
  const reader = toReader(caller)
  const unread = reader && (await listUnreadAmong(db, reader, rows))
  const rootIds = rows.flatMap(({ id, parent_id }) => (parent_id === null ? id : []))
  const stored = rootIds.length > 0 ? await listReplyStates(db, rootIds) : []
  const states = new Map(stored.map((row) => [row.root_id, row]))
  const own = reader && rootIds.length > 0 ? await countUnread(db, reader, rootIds) : undefined
  return rows.map((row) => {
    // Assigned, not spread: a message keeps what is stored of it as JSON.
    const message: TimelineMessage = toMessageFor(caller.access, caller, row)
    if (unread?.has(row.id)) message.unread = true
    const state = states.get(row.id)
    if (state) {
      const thread = { ...(state.title && { title: state.title }), ...toReplyState(state) }
      const { following, unread_replies } = own?.get(row.id) ?? {}
      message.thread = unread_replies === undefined ? thread : { ...thread, following: following === 1, unread_replies }
    }
    return message
  })
}
