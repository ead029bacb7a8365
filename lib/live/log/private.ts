import { randomInt } from 'node:crypto'
import type { PrivateEvent } from '../../context.ts'
import type { Queries } from '../../storage/database.ts'
import { join, type Micros, sql } from '../../storage/sql.ts'
import type { FeedRow } from '../feed/feed-order.ts'
import type { EventRow } from './log.ts'

/** A new event for one user alone, about a conversation. */
export interface NewPrivateEvent {
  for_user_id: string
  conversation_id: string
  at: Micros
  detail: Record<string, string>
  event: PrivateEvent
}

/** The numbers of private events of a conversation: so many that two of them are never equal. */
const NUMBERS = 2 ** 47

/**
 * Appends events for one user each to the order of all events. They take no number of their conversation, so they wait for
 * no other change of it.
 *
 * @returns the new lines, in the order of the events
 */
export async function appendPrivateEvents(tx: Queries, events: readonly NewPrivateEvent[]): Promise<FeedRow[]> {
  const lines = events.map(({ conversation_id, for_user_id, at, detail, event: { type } }): EventRow => {
    const detailText = JSON.stringify(detail)
    const seq = -1 - randomInt(NUMBERS)
    return {
      conversation_id,
      seq,
      type,
      message_id: null,
      user_id: null,
      detail: detailText,
      created_at: at,
      for_user_id,
    }
  })
  const values = lines.map(
    (line) =>
      sql`(${line.conversation_id}, ${line.seq}, ${line.type}, ${line.detail}, ${line.created_at}, ${line.for_user_id})`,
  )
  const xid = tx.dialect === 'sqlite' ? sql`NULL` : sql`xid::text`
  const rows = await tx.all<{ id: number; seq: number; xid: string | null }>(
    sql`INSERT INTO events (conversation_id, seq, type, detail, created_at, for_user_id) VALUES ${join(values, ', ')}
        RETURNING id, seq, ${xid} AS xid`,
  )
  const stored = new Map(rows.map((row) => [row.seq, row]))
  return lines.map((line) => {
    const { id, xid } = stored.get(line.seq)!
    return { ...line, id, ...(xid !== null && { xid: Number(xid) }) }
  })
}

/** Whether a line of the log is for one user alone, and not for this one. */
export function isForAnother({ for_user_id }: Pick<EventRow, 'for_user_id'>, userId: string): boolean {
  return for_user_id !== null && for_user_id !== userId
}

/** Private events of a user who is erased. By for_user_id. */
export async function deletePrivateEvents(tx: Queries, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM events WHERE for_user_id = ${userId}`)
}
