import type { Queries } from '../../storage/database.ts'
import { changeScopes, refreshScopes } from './scopes.ts'
import type { ChangedMessage, Whose } from './store-changes.ts'
import * as changes from './store-changes.ts'
import { insertMention, listStandingFor, standFor } from './store-editing.ts'

/**
 * Takes the notifications of a message, which is deleted now, out of the inboxes.
 *
 * @returns the users whose number of unread notifications may have changed
 */
export async function hideDeleted(tx: Queries, message: ChangedMessage): Promise<string[]> {
  return [...(await changes.hideDeleted(tx, message)), ...(await changeScopes(tx, message, true))]
}

/** Brings the notifications of a message, which is restored now, back as they were. @returns as {@link hideDeleted} */
export async function showRestored(tx: Queries, message: ChangedMessage): Promise<string[]> {
  return [...(await changes.showRestored(tx, message)), ...(await changeScopes(tx, message, false))]
}

/**
 * Takes unread mentions of a message back that an edit has removed: the notification of its scope stands for the message then,
 * as if it had mentioned no user when it arrived.
 *
 * @param newId of that notification, where there is none
 * @returns the users
 */
export async function withdraw(tx: Queries, message: ChangedMessage, target: Whose, newId: string): Promise<string[]> {
  const users = await changes.withdraw(tx, message, target)
  if (users.length === 0) return users
  await standFor(tx, message, users, newId)
  await refreshScopes(tx, message.conversation_id, [message.root_id])
  return users
}

/**
 * Makes a mention of a message of a direct conversation for which an unread notification of kind `direct` stands: an edit
 * mentions its user, who is not notified of the message again.
 *
 * @returns the users
 */
export async function mentionSilently(tx: Queries, message: ChangedMessage, kind: Whose['kind']): Promise<string[]> {
  const rows = (await listStandingFor(tx, message)).filter((row) => row.read_at === null && row.hidden === 0)
  for (const { user_id } of rows) await insertMention(tx, { user_id, kind }, message)
  return changes.countBy(
    tx,
    message.conversation_id,
    rows.map((row) => ({ ...row, kind })),
    1,
  )
}

/** Whether notifications of kind `direct` stand for a message. */
export async function isToldDirectly(tx: Queries, message: ChangedMessage): Promise<boolean> {
  return (await listStandingFor(tx, message)).length > 0
}
