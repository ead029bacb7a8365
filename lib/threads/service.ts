import type { Actor, Context } from '../context.ts'
import { visit } from '../conversations/access.ts'
import { ChatError } from '../errors.ts'
import { findPosition } from '../events/store.ts'
import { fromInstant, toInstant } from '../ids.ts'
import { isPath } from '../messages/rules.ts'
import { listTree, toMessage } from '../messages/store.ts'
import { type ThreadPage, ThreadsQuery, type TreePage, TreeQuery } from './schema.ts'
import { countUnread, findThreadConversation, listThreads, toSummary } from './store.ts'

/** What each use-case takes last. */
export const inputs = { list: ThreadsQuery, tree: TreeQuery }

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
    const unread = await countUnread(
      db,
      actor.user_id,
      joined_at,
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
    await visit(db, actor, conversationId)
    const cursor = input.cursor_path ?? ''
    if (cursor && !isPath(cursor)) throw new ChatError('invalid_cursor')
    const rows = await listTree(db, rootId, cursor, input.limit + 1)
    const messages = rows.slice(0, input.limit).map(toMessage)
    return {
      root_id: rootId,
      messages,
      ...(rows.length > input.limit && { next_cursor: messages.at(-1)!.path }),
      stream_position: await findPosition(db, conversationId!),
    }
  })
}
