import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'

/** The id of a conversation, or of a message or thread in it. */
export type Where = { conversation_id: string } | { message_id: string } | { root_id: string }

const FROM_WHERE = {
  conversation_id: 'FROM conversations c',
  message_id: 'FROM messages m JOIN conversations c ON c.id = m.conversation_id',
  root_id: 'FROM threads t JOIN conversations c ON c.id = t.conversation_id',
}

const ID_OF = { conversation_id: 'c.id', message_id: 'm.id', root_id: 't.root_id' }

/**
 * Locks a conversation and the user's membership: until the transaction ends, no other transaction changes them. By
 * primary keys.
 *
 * @returns the membership, and the clock of the conversation
 */
export function lockMembershipRow(tx: Queries, where: Where, userId: string) {
  const [by, id] = Object.entries(where)[0] as [keyof typeof ID_OF, string]
  const lock = tx.dialect === 'postgresql' ? 'FOR UPDATE OF c FOR SHARE OF p' : ''
  return tx.get<{
    conversation_id: string
    role: ParticipantRole
    joined_at: Micros
    clock: Micros
    is_direct: number
    policy: string | null
    receipts: number
    unread_mentions: number
  }>(
    `SELECT c.id AS conversation_id, p.role, p.joined_at, c.clock, c.is_direct, c.policy, p.receipts, p.unread_mentions
       ${FROM_WHERE[by]} JOIN participants p ON p.conversation_id = c.id
      WHERE ${ID_OF[by]} = ? AND p.user_id = ? AND c.deleted_at IS NULL ${lock}`,
    id,
    userId,
  )
}

/** Locks a conversation, for a system actor that is not disabled. @returns its id and its clock */
export function lockPlace(tx: Queries, where: Where, systemId: string) {
  const [by, id] = Object.entries(where)[0] as [keyof typeof ID_OF, string]
  return tx.get<{ conversation_id: string; clock: Micros; is_direct: number }>(
    `SELECT c.id AS conversation_id, c.clock, c.is_direct ${FROM_WHERE[by]} JOIN users u ON u.id = ? AND u.disabled_at IS NULL
      WHERE ${ID_OF[by]} = ? AND c.deleted_at IS NULL
      ${tx.dialect === 'postgresql' ? 'FOR UPDATE OF c FOR KEY SHARE OF u' : ''}`,
    systemId,
    id,
  )
}

/**
 * Locks a conversation, for a caller that is no participant.
 *
 * @param options.unlessLocked returns at once if another transaction has locked the conversation
 * @returns the clock of the conversation; `undefined` if it is deleted, or locked
 */
export async function lockConversation(
  tx: Queries,
  id: string,
  options: { unlessLocked?: boolean } = {},
): Promise<Micros | undefined> {
  const lock = tx.dialect === 'sqlite' ? '' : options.unlessLocked ? 'FOR UPDATE SKIP LOCKED' : 'FOR UPDATE'
  const row = await tx.get<{ clock: Micros }>(
    `SELECT clock FROM conversations WHERE id = ? AND deleted_at IS NULL ${lock}`,
    id,
  )
  return row?.clock
}
