import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { levelOf } from '../conversations/rules-settings.ts'
import { findAnswered } from './store-answered.ts'
import { makePersonal } from './store-making.ts'

/**
 * Notifies the user who asked of an answer with text, in the transaction that ends it and has locked the conversation. A
 * user who has left the conversation is not notified.
 *
 * @param at the time of the end
 */
export async function notifyAsker(
  { config, id }: Pick<Context, 'config' | 'id'>,
  tx: Tx,
  { message_id, conversation_id }: { message_id: string; conversation_id: string },
  at: Micros,
): Promise<void> {
  const answered = await findAnswered(tx, message_id)
  if (!answered) return
  const { root_id, posted_by: user_id, is_direct } = answered
  const level = levelOf({ level: null, is_direct }, config.notifications.default_level)
  const of = { at, conversation_id, root_id, message_id, actor_user_id: null }
  tx.notify(makePersonal(tx, [{ id: id(), kind: 'reply', user_id, ...of, level }]))
}
