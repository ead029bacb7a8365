import type { Queries } from '../../storage/database.ts'
import { among, assignments, type Micros, sql } from '../../storage/sql.ts'
import type { ToolState } from './schema-parts.ts'

/** The outcome of what participants decide on a call; `waiting` before it. */
export type ApprovalState = 'waiting' | 'approved' | 'denied' | 'expired' | 'cancelled'

/** What a call of a tool needs of participants before it starts. */
export interface ApprovalColumns {
  approval: ApprovalState | null
  approvers: 'asker' | 'admins' | 'members' | null
  quorum: number | null
  not_asker: number | null
  by_keys: number | null
  expires_at: Micros | null
  decided_at: Micros | null
}

/** A call of a tool. */
export interface CallRow extends ApprovalColumns {
  id: string
  message_id: string
  conversation_id: string
  /** The user who asked; `null` once erased. */
  user_id: string | null
  /** The part of the answer that shows it. */
  part_id: number
  step: number
  name: string
  title: string | null
  state: ToolState
  /** How often it was started. */
  attempts: number
  /** As it is stored; `null` if it is no JSON. */
  input: string | null
  /** As it is stored; `null` before the end. */
  output: string | null
  error: string | null
  requested_at: Micros
}

export const CALL_COLUMNS = sql`id, message_id, conversation_id, user_id, part_id, step, name, title, state, attempts, input,
  output, error, requested_at, approval, approvers, quorum, not_asker, by_keys, expires_at, decided_at`

/** A call before anything has happened to it. */
export type NewCall = Omit<CallRow, keyof ApprovalColumns | 'state' | 'attempts' | 'output' | 'error'>

export async function insertCall(tx: Queries, row: NewCall): Promise<void> {
  await tx.run(
    sql`INSERT INTO tool_calls (id, message_id, conversation_id, user_id, part_id, step, name, title, state, input, requested_at)
     VALUES (${row.id}, ${row.message_id}, ${row.conversation_id}, ${row.user_id}, ${row.part_id}, ${row.step}, ${row.name},
             ${row.title}, 'requested', ${row.input}, ${row.requested_at})`,
  )
}

/** What changes of a call. A missing field keeps its value. */
export type CallChange = Partial<Pick<CallRow, 'attempts' | 'output' | 'error'> & ApprovalColumns>

/** Sets the state of a call, which the transaction has read: its conversation is locked. */
export async function setCall(tx: Queries, id: string, change: CallChange & { state: ToolState }): Promise<void> {
  await tx.run(sql`UPDATE tool_calls SET ${assignments(change)} WHERE id = ${id}`)
}

/** The calls of an answer, in their order. */
export function listCalls(db: Queries, messageId: string): Promise<CallRow[]> {
  return db.all<CallRow>(sql`SELECT ${CALL_COLUMNS} FROM tool_calls WHERE message_id = ${messageId} ORDER BY part_id`)
}

/** A call by its id, with what tells whether it can be read and decided. */
export function findCall(db: Queries, id: string): Promise<CallRow | undefined> {
  return db.get<CallRow>(sql`SELECT ${CALL_COLUMNS} FROM tool_calls WHERE id = ${id}`)
}

/** The states of the calls of an answer; with a writer, `undefined` unless that holds the answer. By message_id. */
export async function listStates(
  tx: Queries,
  messageId: string,
  writer?: string,
): Promise<Map<string, ToolState> | undefined> {
  const rows =
    writer === undefined
      ? await tx.all<{ id: string; state: ToolState }>(
          sql`SELECT id, state FROM tool_calls WHERE message_id = ${messageId}`,
        )
      : await tx.all<{ id: string | null; state: ToolState }>(
          sql`SELECT c.id, c.state FROM answers_under_way a LEFT JOIN tool_calls c ON c.message_id = a.message_id
           WHERE a.message_id = ${messageId} AND a.writer = ${writer}`,
        )
  if (writer !== undefined && rows.length === 0) return undefined
  return new Map(rows.flatMap(({ id, state }) => (id === null ? [] : [[id, state]])))
}

/**
 * Takes the numbers of the next rows of an answer under way; of one that waits for participants no process holds the count.
 * The transaction has locked its conversation.
 *
 * @returns the first number
 */
export async function takeNumbers(tx: Queries, messageId: string, count: number): Promise<number> {
  const held = await tx.get<{ chunk_count: number }>(
    sql`UPDATE answers_under_way SET chunk_count = chunk_count + ${count} WHERE message_id = ${messageId}
     RETURNING chunk_count`,
  )
  if (held) return held.chunk_count - count
  const row = await tx.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM message_chunks WHERE message_id = ${messageId}`,
  )
  return row!.count
}

/** The bytes of the text of an answer under way. */
export async function sizeOfTexts(tx: Queries, messageId: string): Promise<number> {
  const row = await tx.get<{ bytes: number }>(
    sql`SELECT coalesce(sum(octet_length(content)), 0) AS bytes FROM message_chunks WHERE message_id = ${messageId}`,
  )
  return row!.bytes
}

/** The answers among these of which a call can start that participants have approved. */
export async function findApproved(db: Queries, messageIds: readonly string[]): Promise<string[]> {
  const rows = await db.all<{ message_id: string }>(
    sql`SELECT DISTINCT message_id FROM tool_calls WHERE message_id ${among(db, messageIds)} AND state = 'approved'`,
  )
  return rows.map(({ message_id }) => message_id)
}

/** The calls of an answer that wait for a decision. By tool_calls_of_answer. */
export function listWaiting(tx: Queries, messageId: string): Promise<{ id: string; approval: ApprovalState }[]> {
  return tx.all(sql`SELECT id, approval FROM tool_calls WHERE message_id = ${messageId} AND state = 'waiting'`)
}

/** The most calls whose values are read at once: each may have twice 64 KiB. */
const MAX_VALUES = 64

/** The values of the latest calls of these tools in these answers. By tool_calls_of_answer. */
export function listValuesOf(
  db: Queries,
  messageIds: readonly string[],
  names: readonly string[],
): Promise<Pick<CallRow, 'id' | 'input' | 'output' | 'error'>[]> {
  return db.all(
    sql`SELECT id, input, output, error FROM tool_calls WHERE message_id ${among(db, messageIds)} AND name ${among(db, names)}
      ORDER BY id DESC LIMIT ${MAX_VALUES}`,
  )
}
