import type { Actor, Context } from '../context.ts'
import { visit, visitLocked } from '../conversations/access.ts'
import { ChatError } from '../errors.ts'
import { findPosition } from '../events/store.ts'
import { fromInstant, toInstant } from '../ids.ts'
import { isPath } from '../messages/rules.ts'
import { listTree, toMessageFor } from '../messages/store.ts'
import { ReadMark, type ThreadPage, ThreadsQuery, type TreePage, TreeQuery, type UnreadThreads } from './schema.ts'
import { findArrival, findThreadConversation, listThreads, toSummary } from './store.ts'
import { countUnread, listUnread, moveMark } from './unread.ts'

/** What each use-case takes last. */
export const inputs = { list: ThreadsQuery, tree: TreeQuery, markRead: ReadMark }

/**
 * A page of a conversation's threads, latest activity first.
 *
 * @throws ChatError `not_found`
 */
export function list(ctx: Context, actor: Actor, conversationId: string, input: ThreadsQuery): Promise<ThreadPage> {
  return ctx.db.snapshot(async (db) => {
    const { joined_at } = await visit(db, actor, conversationId)
    const before = input.after === undefined ? Number.MAX_SAFE_INTEGER : fromInstant(input.after)
    const rows = await listThreads(db, conversationId, before, input.limit + 1)
    const page = rows.slice(0, input.limit)
    const reader = { user_id: actor.user_id, joined_at }
    const unread = await countUnread(
      db,
      reader,
      page.map((row) => row.root_id),
    )
    return {
      threads: page.map((row) => ({ ...toSummary(row), unread: unread.get(row.root_id) ?? 0 })),
      ...(rows.length > input.limit && { next_after: toInstant(page.at(-1)!.last_activity_at) }),
      stream_position: await findPosition(db, conversationId),
    }
  })
}

/**
 * A page of a thread, depth first: a message, then all below it, siblings in the order they arrived.
 *
 * @throws ChatError `not_found`; `invalid_cursor` for a cursor that is no path
 */
export function tree(ctx: Context, actor: Actor, rootId: string, input: TreeQuery): Promise<TreePage> {
  return ctx.db.snapshot(async (db) => {
    const conversationId = await findThreadConversation(db, rootId)
    const { role } = await visit(db, actor, conversationId)
    const cursor = input.cursor_path ?? ''
    if (cursor && !isPath(cursor)) throw new ChatError('invalid_cursor')
    const rows = await listTree(db, rootId, cursor, input.limit + 1)
    const messages = rows.slice(0, input.limit).map((row) => toMessageFor({ actor, role }, row))
    return {
      root_id: rootId,
      messages,
      ...(rows.length > input.limit && { next_cursor: messages.at(-1)!.path }),
      stream_position: await findPosition(db, conversationId!),
    }
  })
}

/**
 * Where in a conversation something is unread: messages of others that arrived after the reader's mark, and after the
 * reader joined.
 *
 * @throws ChatError `not_found`
 */
export function unread(ctx: Context, actor: Actor, conversationId: string): Promise<UnreadThreads> {
  return ctx.db.snapshot(async (db) => {
    const { joined_at } = await visit(db, actor, conversationId)
    const threads = await listUnread(db, { user_id: actor.user_id, joined_at }, conversationId)
    const total = threads.reduce((sum, thread) => sum + thread.unread, 0)
    return { threads, total, stream_position: await findPosition(db, conversationId) }
  })
}

/**
 * Moves the actor's mark in a thread on to a message's arrival, or to the end; never back. The actor's own streams are
 * told.
 *
 * @throws ChatError `not_found`, also for a message that is not in the thread
 */
export async function markRead(ctx: Context, actor: Actor, rootId: string, input: ReadMark): Promise<void> {
  await ctx.write(async (tx) => {
    const { conversation_id, joined_at } = await visitLocked(tx, actor, { root_id: rootId })
    const at = await findArrival(tx, rootId, input)
    if (at === undefined) throw new ChatError('not_found')
    const reader = { user_id: actor.user_id, joined_at }
    if (!(await moveMark(tx, reader, rootId, at))) return
    const unread = (await countUnread(tx, reader, [rootId])).get(rootId) ?? 0
    const payload = { conversation_id, root_id: rootId, unread }
    tx.whisper(actor.user_id, conversation_id, { type: 'unread.update', payload })
  })
}
