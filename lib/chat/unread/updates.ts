import { toInstant } from '../../core/time.ts'
import type { UnreadPlace, UnreadUpdate } from '../../live/readers/reader.ts'
import type { Database } from '../../storage/database.ts'
import { listMembers } from '../notifications/store-moving.ts'
import { ofConversation } from './rules.ts'
import { listFollowedUnread, toNumbers } from './store.ts'

/** The followers that are read at once. */
const PAGE = 1_000

/** What is unread for those of these users who follow the thread, where the conversation is a stream: a statement for each thread. */
export function listUnreadUpdates(db: Database, places: UnreadPlace[]): Promise<UnreadUpdate[]> {
  const threads = new Map<string, Set<string>>()
  for (const { root_id, user_id } of places) {
    const users = threads.get(root_id)
    if (users) users.add(user_id)
    else threads.set(root_id, new Set([user_id]))
  }
  return db.snapshot(async (queries) => {
    const updates: UnreadUpdate[] = []
    for (const [root_id, userIds] of threads) {
      for (const row of await listFollowedUnread(queries, root_id, userIds)) {
        const { user_id, conversation_id, unread, unread_replies, newest, is_erasing } = row
        const numbers = await toNumbers(queries, { user_id, conversation_id }, row, is_erasing === 1)
        const own = { conversation_id, root_id, unread, unread_replies }
        const payload = { ...own, ...ofConversation(numbers), as_of: toInstant(newest) }
        updates.push({ user_id, event: { type: 'unread.update', payload } })
      }
    }
    return updates
  })
}

/**
 * The users who may follow a thread, among these. It reads the followers of the thread, but no more of them than there are
 * users: then it returns all users.
 */
export async function listFollowing(db: Database, rootId: string, userIds: ReadonlySet<string>): Promise<string[]> {
  const following: string[] = []
  let after = ''
  for (let read = 0; read < userIds.size; read += PAGE) {
    const page = await listMembers(db, rootId, { after, limit: PAGE })
    following.push(...page.filter((id) => userIds.has(id)))
    if (page.length < PAGE) return following
    after = page.at(-1)!
  }
  return [...userIds]
}
