import type { Replier } from '../../core/repliers.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { hideDeleted } from '../notifications/changing.ts'
import { listThreads } from '../unread/store-listing.ts'
import type { MessageRow } from './store.ts'
import { markDeleted } from './store-changes.ts'
import { relistRepliers } from './store-replies.ts'
import { recount } from './store-threads.ts'

/** Deletes a message of a conversation that the transaction has locked: its text can no longer be read, its replies stay. */
export async function deleteMessage(
  tx: Tx,
  message: MessageRow,
  deletion: { at: Micros; by: string | null; reason?: string | null | undefined },
): Promise<void> {
  await recount(tx, message, -1, () => markDeleted(tx, message.id, deletion))
  await relistRepliers(tx, message.root_id, { removed: toReplier(message) })
  // By the lists as they were: they name the followers.
  tx.publishCounts(await hideDeleted(tx, message))
  if (message.id !== message.root_id) await listThreads(tx, [message.root_id])
  countMessage(tx, message, -1)
  tx.emit(message.conversation_id, { type: 'message.deleted', message_id: message.id })
}

/** What a reply says of who replied; of a root, and of a message without an author, that is nothing. */
export function toReplier({ parent_id, posted_by, created_at }: MessageRow): Replier | undefined {
  return parent_id === null || posted_by === null ? undefined : { user_id: posted_by, at: created_at }
}

/** Counts a message of its conversation that is deleted, or comes back. */
export function countMessage(tx: Tx, { conversation_id, parent_id }: MessageRow, by: -1 | 1): void {
  tx.countMessages(conversation_id, { messages: by, roots: parent_id === null ? by : 0 })
}
