import { setExpiry } from '../../chat/attachments/store.ts'
import { deleteMessage } from '../../chat/messages/deleting.ts'
import { findMessage } from '../../chat/messages/store.ts'
import type { Context } from '../../context.ts'
import { DAY } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'

/** Deletes an answer that has ended, since the host withdraws it; no user has. The transaction has locked its conversation. */
export async function withdrawAnswer(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  messageId: string,
  { at, reason }: { at: Micros; reason: string },
): Promise<void> {
  const message = (await findMessage(tx, messageId))!
  if (message.attachment_list) await setExpiry(tx, messageId, at + config.attachments.deleted_days * DAY)
  await deleteMessage(tx, message, { at, by: null, reason: reason || null })
}
