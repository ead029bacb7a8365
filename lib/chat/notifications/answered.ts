import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { levelOf } from '../memberships/rules-settings.ts'
import { findParticipant } from '../mentions/store.ts'
import { findAnswered } from './store-answered.ts'
import { removeApproval } from './store-approvals.ts'
import { countBy, listNotified } from './store-changes.ts'
import { makeNotifications } from './store-making.ts'

/**
 * Notifies the user who asked of an answer with text, in the transaction that ends it and has locked the conversation. A
 * user who has left the conversation is not notified.
 *
 * @param at the time of the end
 */
export async function notifyAsker(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  { message_id, conversation_id }: { message_id: string; conversation_id: string },
  at: Micros,
): Promise<void> {
  const answered = await findAnswered(tx, message_id)
  const user = answered && (await findParticipant(tx, conversation_id, answered.posted_by))
  if (!user) return
  // What was for the user to decide is read by now.
  await countBy(tx, conversation_id, await removeApproval(tx, message_id, user.user_id), -1)
  if ((await listNotified(tx, message_id)).has(user.user_id)) return
  const { root_id, is_direct } = answered
  if (levelOf({ ...user, is_direct }, config.notifications.default_level) === 'none') return
  const row = { id: message_id, at, conversation_id, root_id, message_id, actor_user_id: null }
  tx.notify(makeNotifications(tx, [{ ...row, kind: 'reply', users: [user] }]))
}
