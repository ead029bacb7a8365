import type { Queries } from '../../storage/database.ts'
import { databaseNow, type Micros, sql } from '../../storage/sql.ts'
import type { Spent } from '../metering/rules-spent.ts'

/** How far an answer with calls of tools has come. */
export interface RunRow {
  /** The last step that has ended: its calls run, or wait. */
  step: number
  /** How often the model was asked for the step after it. */
  attempts: number
  /** How long it has run, without the time in which it waited for participants. */
  ran_ms: number
  /** What its steps have used, as JSON. */
  spent: string
  /** The metadata that its steps have given it, as JSON; `null` for none. */
  metadata: string | null
}

const RUN_COLUMNS = sql`step, attempts, ran_ms, spent, metadata`

/** Stores the end of a step with calls. */
export async function putRun(
  tx: Queries,
  messageId: string,
  run: Pick<RunRow, 'step' | 'ran_ms' | 'metadata'> & { spent: Spent; micros: number },
): Promise<void> {
  const { step, ran_ms, spent, micros, metadata } = run
  await tx.run(
    sql`INSERT INTO answer_runs (message_id, step, attempts, ran_ms, spent, tokens, micros, metadata)
          VALUES (${messageId}, ${step}, 0, ${ran_ms}, ${JSON.stringify(spent)},
                  ${spent.prompt_tokens + spent.completion_tokens}, ${micros}, ${metadata})
     ON CONFLICT (message_id) DO UPDATE SET step = excluded.step, attempts = 0, ran_ms = excluded.ran_ms,
            spent = excluded.spent, tokens = excluded.tokens, micros = excluded.micros, metadata = excluded.metadata`,
  )
}

/** @returns how often the model was asked for the next step, this time included */
export async function countAttempt(tx: Queries, messageId: string, ran_ms: number): Promise<number> {
  const row = await tx.get<{ attempts: number }>(
    sql`UPDATE answer_runs SET attempts = attempts + 1, ran_ms = ${ran_ms} WHERE message_id = ${messageId}
     RETURNING attempts`,
  )
  return row?.attempts ?? 0
}

export function findRun(db: Queries, messageId: string): Promise<RunRow | undefined> {
  return db.get<RunRow>(sql`SELECT ${RUN_COLUMNS} FROM answer_runs WHERE message_id = ${messageId}`)
}

/** Gives an answer that ends the metadata of its steps: until then it has that of the question. */
export async function setMetadata(tx: Queries, messageId: string, metadata: string): Promise<void> {
  await tx.run(sql`UPDATE messages SET metadata = nullif(${metadata}, '{}') WHERE id = ${messageId}`)
}

/** Deletes it: the answer has ended. */
export function takeRun(tx: Queries, messageId: string): Promise<RunRow | undefined> {
  return tx.get<RunRow>(sql`DELETE FROM answer_runs WHERE message_id = ${messageId} RETURNING ${RUN_COLUMNS}`)
}

/** An answer waits for participants from now on: no process holds it. @returns false unless this writer did */
export async function pauseAnswer(tx: Queries, messageId: string, writer: string, ran_ms: number): Promise<boolean> {
  const held = await tx.run(sql`DELETE FROM answers_under_way WHERE message_id = ${messageId} AND writer = ${writer}`)
  if (held !== 1) return false
  await tx.run(sql`UPDATE messages SET status = 'waiting' WHERE id = ${messageId}`)
  await tx.run(sql`UPDATE answer_runs SET ran_ms = ${ran_ms} WHERE message_id = ${messageId}`)
  return true
}

/** The writer of an answer that any process may take. */
const NO_PROCESS = sql`'none'`

/** An answer that waited goes on: the next process with room takes it. @returns false unless it waits */
export async function resumeAnswer(tx: Queries, messageId: string): Promise<boolean> {
  const resumed = await tx.run(
    sql`UPDATE messages SET status = 'streaming' WHERE id = ${messageId} AND status = 'waiting'`,
  )
  if (resumed !== 1) return false
  await tx.run(
    sql`INSERT INTO answers_under_way (message_id, conversation_id, writer, lease_expires_at, chunk_count, reserved_tokens,
            reserved_micros)
     SELECT m.id, m.conversation_id, ${NO_PROCESS}, 0, (SELECT count(*) FROM message_chunks c WHERE c.message_id = m.id),
            r.tokens, r.micros
       FROM messages m JOIN answer_runs r ON r.message_id = m.id WHERE m.id = ${messageId}`,
  )
  return true
}

/**
 * Hands an answer over: the next process with room takes it.
 *
 * @param isAsked false if the model was not asked for the next step, although that was counted
 */
export async function releaseAnswer(
  tx: Queries,
  messageId: string,
  { writer, isAsked }: { writer: string; isAsked: boolean },
): Promise<void> {
  if (!isAsked)
    await tx.run(sql`UPDATE answer_runs SET attempts = attempts - 1 WHERE message_id = ${messageId} AND attempts > 0`)
  await tx.run(
    sql`UPDATE answers_under_way SET writer = ${NO_PROCESS}, lease_expires_at = 0
      WHERE message_id = ${messageId} AND writer = ${writer}`,
  )
}

/**
 * Takes an answer that no process writes any more, if there is room: all processes together hold at most `max`.
 *
 * @returns `undefined` if another process has it
 */
export async function takeAnswer(
  tx: Queries,
  messageId: string,
  { writer, lease, max }: { writer: string; lease: Micros; max: number },
): Promise<'taken' | 'full' | undefined> {
  const clock = databaseNow(tx.dialect)
  const held = await tx.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM answers_under_way held JOIN messages m ON m.id = held.message_id
      WHERE held.lease_expires_at >= ${clock} AND m.role = 'assistant'`,
  )
  if (held!.count >= max) return 'full'
  const taken = await tx.run(
    sql`UPDATE answers_under_way SET writer = ${writer}, lease_expires_at = ${clock} + ${lease}
      WHERE message_id = ${messageId} AND lease_expires_at < ${clock}`,
  )
  return taken === 1 ? 'taken' : undefined
}

/** The number of rows of an answer that a process holds. */
export async function findHeld(tx: Queries, messageId: string): Promise<number | undefined> {
  const row = await tx.get<{ chunk_count: number }>(
    sql`SELECT chunk_count FROM answers_under_way WHERE message_id = ${messageId}`,
  )
  return row?.chunk_count
}

/** What the steps of an answer have used. */
export const spentOf = ({ spent }: RunRow): Spent => JSON.parse(spent) as Spent
