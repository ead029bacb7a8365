import type { Queries } from '../../storage/database.ts'
import type { ChangedMessage, Whose } from './store-changes.ts'
import * as changes from './store-changes.ts'
import {
  convertToDirect,
  convertToMention,
  decrement,
  findDirectNotification,
  findOther,
  insertMention,
  listStandingFor,
  replaceBy,
  shiftDirect,
} from './store-direct.ts'

/**
 * Takes the notifications of a message, which is deleted now, out of the inboxes.
 *
 * @returns the users whose number of unread notifications may have changed
 */
export async function hideDeleted(tx: Queries, message: ChangedMessage): Promise<string[]> {
  return [...(await changes.hideDeleted(tx, message)), ...(await shiftDirect(tx, message, -1))]
}

/** Brings the notifications of a message, which is restored now, back as they were. @returns as {@link hideDeleted} */
export async function showRestored(tx: Queries, message: ChangedMessage): Promise<string[]> {
  return [...(await changes.showRestored(tx, message)), ...(await shiftDirect(tx, message, 1))]
}

/**
 * Makes unread mentions of a message of a direct conversation, which an edit has removed, part of the notification of kind
 * `direct` of its thread: as if the message had mentioned no user when it arrived.
 *
 * @param newId of a notification of kind `direct`, where there is none
 * @returns the users
 */
export async function joinDirect(
  tx: Queries,
  message: ChangedMessage,
  target: Whose,
  newId: string,
): Promise<string[]> {
  const rows = await changes.listWithdrawable(tx, message.id, target)
  for (const row of rows) {
    const direct = await findDirectNotification(tx, row.user_id, message)
    if (direct === undefined) await convertToDirect(tx, row.user_id, newId, message)
    else {
      await replaceBy(tx, row, direct, message)
      await shiftDirect(tx, message, 1)
    }
  }
  return changes.countBy(tx, message.conversation_id, rows, -1)
}

/**
 * Makes a mention of a message of a direct conversation that an unread notification of kind `direct` stands for: an edit
 * mentions its user, who is not notified of the message again.
 *
 * @returns the users
 */
export async function leaveDirect(tx: Queries, message: ChangedMessage, kind: Whose['kind']): Promise<string[]> {
  const rows = (await listStandingFor(tx, message)).filter((row) => row.read_at === null && row.hidden === 0)
  for (const { user_id, id } of rows) {
    const other = await findOther(tx, { user_id, id }, message)
    if (other === undefined) await convertToMention(tx, { user_id, id, kind }, message)
    else {
      await decrement(tx, { user_id, id }, other)
      await insertMention(tx, { user_id, kind }, message)
    }
  }
  const notifications = rows.map((row) => ({ ...row, kind }))
  return changes.countBy(tx, message.conversation_id, notifications, 1)
}

/** Whether notifications of kind `direct` stand for a message. */
export async function isToldDirectly(tx: Queries, message: ChangedMessage): Promise<boolean> {
  return (await listStandingFor(tx, message)).length > 0
}
