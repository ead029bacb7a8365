import type { Tx } from '../../live/transaction/transaction.ts'
import type { Reader } from '../../storage/unread-set.ts'
import { countUnread } from './store.ts'

/** Tells the streams of a user whether the user follows a thread. */
export async function publishFollowed(tx: Tx, reader: Reader, root_id: string, following: boolean): Promise<void> {
  const { user_id, conversation_id } = reader
  const { unread_replies = 0 } = (await countUnread(tx, reader, [root_id])).get(root_id) ?? {}
  const payload = { conversation_id, root_id, following, unread_replies }
  tx.publishToUser(user_id, conversation_id, { type: 'thread.followed', payload })
}
