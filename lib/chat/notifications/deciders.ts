import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import { publishRead } from './publishing.ts'
import { readApprovals, removeReadApprovals } from './store-approvals.ts'
import { countBy, listNotified } from './store-changes.ts'
import { makeNotifications } from './store-making.ts'

/** An answer that waits for approvals, in a conversation that is locked. */
interface WaitingMessage {
  message_id: string
  conversation_id: string
}

/**
 * Notifies those who decide on calls of an answer, in a transaction that has locked the conversation: once for all calls that
 * wait at the same time.
 */
export async function notifyDeciders(
  tx: Tx,
  { message_id, conversation_id, root_id }: WaitingMessage & { root_id: string },
  users: readonly ParticipantSettings[],
  at: Micros,
): Promise<void> {
  await removeReadApprovals(tx, message_id)
  const notified = await listNotified(tx, message_id)
  const others = users.filter(({ user_id }) => !notified.has(user_id))
  if (others.length === 0) return
  const row = { id: message_id, at, conversation_id, root_id, message_id, actor_user_id: null }
  tx.notify(makeNotifications(tx, [{ ...row, kind: 'approval', users: others }]))
}

/** Reads the notifications of an answer no call of which waits any more, and tells the streams of their users. */
export async function readDeciders(tx: Tx, message: WaitingMessage, at: Micros): Promise<void> {
  const { message_id, conversation_id } = message
  const rows = await readApprovals(tx, message_id, at)
  for (const user_id of await countBy(tx, conversation_id, rows, -1)) publishRead(tx, user_id, [message_id])
}
