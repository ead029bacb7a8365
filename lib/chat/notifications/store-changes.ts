import type { Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import { isCounted } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** A message whose notifications change, in a conversation that is locked. */
export interface ChangedMessage {
  id: string
  conversation_id: string
  root_id: string
  posted_by: string | null
  created_at: Micros
}

/** A notification after a change. */
interface Changed {
  user_id: string
  kind: NotificationKind
  read_at: Micros | null
  hidden: number
}

const CHANGED = 'user_id, kind, read_at, hidden'

/** Changes the unread mentions of the users of these, which are unread. @returns the users with an unread one */
async function countBy(tx: Queries, conversationId: string, rows: Changed[], by: 1 | -1): Promise<string[]> {
  const unread = rows.filter(({ read_at }) => read_at === null)
  const counted = unread.filter(({ kind }) => isCounted(kind)).map(({ user_id }) => user_id)
  if (counted.length > 0)
    await tx.run(
      `UPDATE participants SET unread_mentions = unread_mentions + ?
        WHERE conversation_id = ? AND user_id ${isOneOf(tx.dialect)}`,
      by,
      conversationId,
      jsonList(counted),
    )
  return unread.map(({ user_id }) => user_id)
}

/**
 * Takes the notifications of a message, which is deleted now, out of the inboxes. By message_id.
 *
 * @returns the users whose number of unread notifications has changed
 */
export async function hideDeleted(tx: Queries, message: ChangedMessage): Promise<string[]> {
  const rows = await tx.all<Changed>(
    `UPDATE notifications SET hidden = hidden + 1
      WHERE message_id = ? AND kind <> 'direct' AND hidden IN (0, 2) RETURNING ${CHANGED}`,
    message.id,
  )
  const gone = rows.filter(({ hidden }) => hidden === 1)
  return [...(await countBy(tx, message.conversation_id, gone, -1)), ...(await shiftDirect(tx, message, -1))]
}

/** Brings the notifications of a message, which is restored now, back as they were. By message_id. @returns as {@link hideDeleted} */
export async function showRestored(tx: Queries, message: ChangedMessage): Promise<string[]> {
  const rows = await tx.all<Changed>(
    `UPDATE notifications SET hidden = hidden - 1
      WHERE message_id = ? AND kind <> 'direct' AND hidden IN (1, 3) RETURNING ${CHANGED}`,
    message.id,
  )
  const back = rows.filter(({ hidden }) => hidden === 0)
  return [...(await countBy(tx, message.conversation_id, back, 1)), ...(await shiftDirect(tx, message, 1))]
}

/** The notifications `d` of kind `direct` that stand for a message, which notifies their users of nothing else. */
const STANDS_FOR = `d.kind = 'direct' AND d.root_id = ? AND d.since <= ? AND d.at >= ?
  AND NOT EXISTS (SELECT 1 FROM notifications o WHERE o.message_id = ? AND o.user_id = d.user_id AND o.kind <> 'direct')`

/**
 * Changes the number of messages that notifications of kind `direct` stand for; they show the latest one that is not
 * deleted. Without any, they are hidden. By (user_id, at).
 */
async function shiftDirect(tx: Queries, message: ChangedMessage, by: 1 | -1): Promise<string[]> {
  const { id, conversation_id, root_id, posted_by, created_at } = message
  const rows = await tx.all<Pick<Changed, 'user_id' | 'read_at'> & { id: string }>(
    `SELECT d.user_id, d.id, d.read_at
       FROM participants p JOIN notifications d ON d.user_id = p.user_id
      WHERE p.conversation_id = (SELECT id FROM conversations WHERE id = ? AND is_direct = 1) AND p.user_id <> ?
        AND ${STANDS_FOR}`,
    conversation_id,
    posted_by ?? '',
    root_id,
    created_at,
    created_at,
    id,
  )
  for (const { user_id, id } of rows) {
    await tx.run(
      `UPDATE notifications SET count = count + ?, hidden = CASE WHEN count + ? > 0 THEN 0 ELSE 1 END,
              message_id = coalesce((SELECT m.id FROM messages m
                 WHERE m.root_id = notifications.root_id AND m.deleted_at IS NULL AND m.posted_by <> notifications.user_id
                   AND m.created_at >= notifications.since AND m.created_at <= notifications.at
                   AND NOT EXISTS (SELECT 1 FROM notifications o
                                    WHERE o.message_id = m.id AND o.user_id = notifications.user_id AND o.id <> notifications.id)
                 ORDER BY m.created_at DESC LIMIT 1), message_id)
        WHERE user_id = ? AND id = ?`,
      by,
      by,
      user_id,
      id,
    )
  }
  return rows.filter(({ read_at }) => read_at === null).map(({ user_id }) => user_id)
}

/** Of these users, those that a notification of kind `direct` has told of a message. */
export async function listToldDirectly(tx: Queries, userIds: string[], message: ChangedMessage): Promise<Set<string>> {
  const { id, root_id, created_at } = message
  const rows = await tx.all<{ user_id: string }>(
    `SELECT d.user_id FROM notifications d WHERE d.user_id ${isOneOf(tx.dialect)} AND ${STANDS_FOR}`,
    jsonList(userIds),
    root_id,
    created_at,
    created_at,
    id,
  )
  return new Set(rows.map(({ user_id }) => user_id))
}

/** Whose notifications of a message an edit changes, and of which kind they are. */
export type Whose = { kind: 'mention'; user_ids: string[] } | { kind: 'mention_all' }

function whose(tx: Queries, given: Whose): [sql: string, ...params: string[]] {
  return given.kind === 'mention_all' ? ['1 = 1'] : [`user_id ${isOneOf(tx.dialect)}`, JSON.stringify(given.user_ids)]
}

/** Takes unread notifications back whose mentions an edit has removed. @returns the users */
export async function withdraw(tx: Queries, message: ChangedMessage, given: Whose): Promise<string[]> {
  const [condition, ...params] = whose(tx, given)
  const rows = await tx.all<Changed>(
    `UPDATE notifications SET hidden = 2
      WHERE message_id = ? AND read_at IS NULL AND hidden = 0 AND kind = ? AND ${condition} RETURNING ${CHANGED}`,
    message.id,
    given.kind,
    ...params,
  )
  return countBy(tx, message.conversation_id, rows, -1)
}

/**
 * Brings back what was withdrawn, whatever it was then: no user is notified twice of one message.
 *
 * @returns the users
 */
export async function reinstate(tx: Queries, message: ChangedMessage, given: Whose): Promise<string[]> {
  const [condition, ...params] = whose(tx, given)
  const rows = await tx.all<Changed>(
    `UPDATE notifications SET hidden = 0, kind = ? WHERE message_id = ? AND hidden = 2 AND ${condition} RETURNING ${CHANGED}`,
    given.kind,
    message.id,
    ...params,
  )
  return countBy(tx, message.conversation_id, rows, 1)
}

/** Gives notifications of a message to these users another kind, which counts as the one before. */
export async function changeKind(
  tx: Queries,
  messageId: string,
  userIds: string[],
  kinds: { from: NotificationKind; to: NotificationKind },
): Promise<void> {
  if (userIds.length === 0) return
  await tx.run(
    `UPDATE notifications SET kind = ? WHERE message_id = ? AND kind = ? AND hidden = 0 AND user_id ${isOneOf(tx.dialect)}`,
    kinds.to,
    messageId,
    kinds.from,
    jsonList(userIds),
  )
}
