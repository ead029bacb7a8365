import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import { READ_FLOORS } from '../../storage/unread-set.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import type { ReadFloors } from './store.ts'

/** The id of a conversation, or of a message or thread in it. */
export type Where = { conversation_id: string } | { message_id: string } | { root_id: string }

const FROM_WHERE = {
  conversation_id: sql`FROM conversations c`,
  message_id: sql`FROM messages m JOIN conversations c ON c.id = m.conversation_id`,
  root_id: sql`FROM threads t JOIN conversations c ON c.id = t.conversation_id`,
}

const ID_OF = { conversation_id: sql`c.id`, message_id: sql`m.id`, root_id: sql`t.root_id` }

function placeIn(where: Where): { by: keyof typeof ID_OF; id: string } {
  const [by, id] = Object.entries(where)[0] as [keyof typeof ID_OF, string]
  return { by, id }
}

/**
 * What users see of a conversation in which a user does not participate. By primary keys.
 *
 * @returns `undefined` for a participant, and for a conversation that does not exist
 */
export async function findVisibilityFor(db: Queries, where: Where, userId: string): Promise<string | null | undefined> {
  const { by, id } = placeIn(where)
  const row = await db.get<{ visibility: string | null }>(
    sql`SELECT c.visibility ${FROM_WHERE[by]}
      WHERE ${ID_OF[by]} = ${id} AND c.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM participants p WHERE p.conversation_id = c.id AND p.user_id = ${userId})`,
  )
  return row?.visibility
}

/**
 * Locks a conversation and the user's membership: until the transaction ends, no other transaction changes them. By
 * primary keys.
 *
 * @returns the membership, and the clock of the conversation
 */
export function lockMembershipRow(tx: Queries, where: Where, userId: string) {
  const { by, id } = placeIn(where)
  const lock = tx.dialect === 'postgresql' ? sql`FOR UPDATE OF c FOR SHARE OF p` : sql``
  return tx.get<
    ReadFloors & {
      conversation_id: string
      role: ParticipantRole
      clock: Micros
      is_direct: number
      policy: string | null
      frozen_at: Micros | null
      receipts: number
      unread_mentions: number
    }
  >(
    sql`SELECT c.id AS conversation_id, p.role, ${READ_FLOORS}, c.clock, c.is_direct, c.policy, c.frozen_at, p.receipts,
          p.unread_mentions
       ${FROM_WHERE[by]} JOIN participants p ON p.conversation_id = c.id
      WHERE ${ID_OF[by]} = ${id} AND p.user_id = ${userId} AND c.deleted_at IS NULL ${lock}`,
  )
}

/** Locks a conversation, for a system actor that is not disabled. @returns its id and its clock */
export function lockPlace(tx: Queries, where: Where, systemId: string) {
  const { by, id } = placeIn(where)
  return tx.get<{ conversation_id: string; clock: Micros; is_direct: number; frozen_at: Micros | null }>(
    sql`SELECT c.id AS conversation_id, c.clock, c.is_direct, c.frozen_at ${FROM_WHERE[by]}
       JOIN users u ON u.id = ${systemId} AND u.disabled_at IS NULL
      WHERE ${ID_OF[by]} = ${id} AND c.deleted_at IS NULL
      ${tx.dialect === 'postgresql' ? sql`FOR UPDATE OF c FOR KEY SHARE OF u` : sql``}`,
  )
}

/** What to do if another transaction has locked a conversation, on PostgreSQL. Default: wait for as long as any statement. */
export interface LockOptions {
  /** Returns at once. */
  unlessLocked?: boolean
  /** Waits in the queue of those who want it, for so long. */
  wait_ms?: number
}

/** For the rest of the transaction. */
const setLockTimeout = (value: string) => sql`SELECT set_config('lock_timeout', ${value}, true)`

/**
 * Locks a conversation, for a caller that is no participant.
 *
 * @returns the clock of the conversation; `undefined` if it is deleted, or locked
 * @throws ChatError `unavailable` if it stays locked for `wait_ms`
 */
export async function lockConversation(
  tx: Queries,
  id: string,
  options: LockOptions = {},
): Promise<Micros | undefined> {
  if (options.wait_ms !== undefined && tx.dialect === 'postgresql') {
    const before = (await tx.get<{ value: string }>(sql`SELECT current_setting('lock_timeout') AS value`))!.value
    await tx.get(setLockTimeout(`${options.wait_ms}ms`))
    const clock = await lockConversation(tx, id)
    await tx.get(setLockTimeout(before))
    return clock
  }
  const lock = tx.dialect === 'sqlite' ? sql`` : options.unlessLocked ? sql`FOR UPDATE SKIP LOCKED` : sql`FOR UPDATE`
  const row = await tx.get<{ clock: Micros }>(
    sql`SELECT clock FROM conversations WHERE id = ${id} AND deleted_at IS NULL ${lock}`,
  )
  return row?.clock
}
