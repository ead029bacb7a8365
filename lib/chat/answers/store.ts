import type { PartRow } from '../../core/stored-parts.ts'
import { toInstant } from '../../core/time.ts'
import { COPIED } from '../../storage/copied-answers.ts'
import type { Queries } from '../../storage/database.ts'
import { among, databaseNow, isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import type { Chunk, MessageStatus, Usage } from './schema.ts'
import type { FailureCode } from './schema-failures.ts'
import type { PartChange } from './schema-parts.ts'

/** An answer in progress and its writer. */
export interface UnderWay {
  message_id: string
  conversation_id: string
  writer: string
  /** What is reserved of quotas until it ends. */
  reserved?: { tokens: number; cost_micros: number }
}

/** @param lease the time until the writer must renew it */
export async function insertUnderWay(tx: Queries, row: UnderWay, lease: Micros): Promise<void> {
  await tx.run(
    sql`INSERT INTO answers_under_way (message_id, conversation_id, writer, lease_expires_at, reserved_tokens, reserved_micros)
     VALUES (${row.message_id}, ${row.conversation_id}, ${row.writer}, ${databaseNow(tx.dialect)} + ${lease},
             ${row.reserved?.tokens ?? 0}, ${row.reserved?.cost_micros ?? 0})`,
  )
}

/**
 * Deletes the row of an answer in progress; with conditions, only if this writer holds it, or if its lease has expired.
 */
export async function deleteUnderWay(
  tx: Queries,
  messageId: string,
  { writer, lapsed }: { writer?: string; lapsed?: true } = {},
): Promise<boolean> {
  const deleted = await tx.run(
    sql`DELETE FROM answers_under_way
      WHERE message_id = ${messageId} AND writer = coalesce(CAST(${writer ?? null} AS TEXT), writer)
            ${lapsed ? sql`AND lease_expires_at < ${databaseNow(tx.dialect)}` : sql``}`,
  )
  return deleted === 1
}

/** Whether an answer waits for participants. By primary key. */
export async function isWaiting(tx: Queries, messageId: string): Promise<boolean> {
  const row = await tx.get(sql`SELECT 1 AS found FROM messages WHERE id = ${messageId} AND status = 'waiting'`)
  return row !== undefined
}

/** Any number: the holder of this lock starts an answer. */
const ASKING_LOCK = 7_201_997

/**
 * The number of answers of the assistant in progress in all processes, and of those that this user requested, with the user's
 * own quota. Until the transaction ends no other answer starts, so the numbers stay true. The table is small.
 */
export async function lockAndCountUnderWay(
  tx: Queries,
  userId: string,
): Promise<{ all: number; own: number; quota: string | null }> {
  await lockStarts(tx)
  const row = await tx.get<{ all: number; own: number; quota: string | null }>(
    sql`SELECT count(*) AS "all", coalesce(sum(CASE WHEN m.posted_by = ${userId} THEN 1 ELSE 0 END), 0) AS own,
            (SELECT limits FROM usage_quotas WHERE id = ${userId}) AS quota
       FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE m.role = 'assistant'`,
  )
  return row!
}

/** Until the transaction ends no other answer starts. */
export async function lockStarts(tx: Queries): Promise<void> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${ASKING_LOCK})`)
}

/** The number of messages that a program streams. Until the transaction ends it begins no other. The table is small. */
export async function lockAndCountStreamed(tx: Queries, userId: string): Promise<number> {
  await lockStarts(tx)
  const row = await tx.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE m.role <> 'assistant' AND m.posted_by = ${userId}`,
  )
  return row!.count
}

/** How far a message that is streamed has come. */
export interface Progress {
  writer: string
  chunk_count: number
  /** The bytes of the chunks that came by calls. */
  bytes: number
  /** The state of the bucket that limits its calls. */
  paced_to: Micros
}

/** Stores how far a message has come that is streamed by calls, and renews its lease. */
export async function setProgress(
  tx: Queries,
  messageId: string,
  { chunk_count, bytes, paced_to }: Omit<Progress, 'writer'>,
  lease: Micros,
): Promise<void> {
  await tx.run(
    sql`UPDATE answers_under_way SET chunk_count = ${chunk_count}, bytes = ${bytes}, paced_to = ${paced_to},
            lease_expires_at = ${databaseNow(tx.dialect)} + ${lease}
      WHERE message_id = ${messageId}`,
  )
}

/** Renews the leases that the writer still holds, for `lease` from now on. @returns the ids of their messages */
export async function renewLeases(
  tx: Queries,
  writer: string,
  messageIds: Iterable<string>,
  lease: Micros,
): Promise<Set<string>> {
  const rows = await tx.all<{ message_id: string }>(
    sql`UPDATE answers_under_way SET lease_expires_at = ${databaseNow(tx.dialect)} + ${lease}
      WHERE writer = ${writer} AND message_id ${among(tx, messageIds)}
     RETURNING message_id`,
  )
  return new Set(rows.map((row) => row.message_id))
}

/** An answer whose writer has lost it, and the user who asked; of a message that a program streams, the program. */
export interface LapsedAnswer {
  message_id: string
  conversation_id: string
  root_id: string
  role: string
  posted_by: string | null
  /** Whether calls of tools were made for it: another process can go on. */
  has_run: number
  /** Whether no process has it, as after a decision of participants. */
  is_free: number
}

/** Up to `limit` answers with an expired lease. By lease_expires_at. */
export function listLapsed(db: Queries, limit: number): Promise<LapsedAnswer[]> {
  return db.all(
    sql`SELECT a.message_id, a.conversation_id, m.root_id, m.role, m.posted_by,
            CASE WHEN r.message_id IS NULL OR a.writer = ${COPIED} THEN 0 ELSE 1 END AS has_run,
            CASE WHEN a.lease_expires_at = 0 THEN 1 ELSE 0 END AS is_free
       FROM answers_under_way a JOIN messages m ON m.id = a.message_id
       LEFT JOIN answer_runs r ON r.message_id = a.message_id
      WHERE a.lease_expires_at < ${databaseNow(db.dialect)}
      ORDER BY a.lease_expires_at LIMIT ${limit}`,
  )
}

/** The answers under way of a user, in all conversations. By the calls of the user, and a small table. */
export function listUnderWayFor(
  db: Queries,
  userId: string,
): Promise<{ message_id: string; conversation_id: string }[]> {
  return db.all(
    sql`SELECT a.message_id, a.conversation_id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE m.posted_by = ${userId}
      UNION SELECT c.message_id, c.conversation_id FROM tool_calls c
      WHERE c.user_id = ${userId} AND c.approval = 'waiting'`,
  )
}

/**
 * Takes the number `idx` for the writer's next chunk, and those behind it for `count` chunks in all: `taken`; `known` if it had
 * been taken but the commit was not confirmed; `gone` if the writer has lost the answer.
 */
export async function takeIndex(
  tx: Queries,
  { message_id, writer }: Pick<UnderWay, 'message_id' | 'writer'>,
  idx: number,
  count = 1,
): Promise<'taken' | 'known' | 'gone'> {
  const taken = await tx.run(
    sql`UPDATE answers_under_way SET chunk_count = chunk_count + ${count} WHERE message_id = ${message_id}
          AND writer = ${writer} AND chunk_count = ${idx}`,
  )
  if (taken === 1) return 'taken'
  const row = await tx.get<{ chunk_count: number }>(
    sql`SELECT chunk_count FROM answers_under_way WHERE message_id = ${message_id} AND writer = ${writer}`,
  )
  return row?.chunk_count === idx + count ? 'known' : 'gone'
}

/** A chunk as it is stored. */
export interface ChunkRow {
  message_id: string
  idx: number
  content: string
  created_at: Micros
}

export async function insertChunk(tx: Queries, row: ChunkRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO message_chunks (message_id, idx, content, created_at)
          VALUES (${row.message_id}, ${row.idx}, ${row.content}, ${row.created_at})`,
  )
}

/** Makes another text the only chunk of a message, so that a replay has nothing of the one before. */
export async function replaceChunks(tx: Queries, messageId: string, content: string, at: Micros): Promise<void> {
  await tx.run(sql`DELETE FROM message_chunks WHERE message_id = ${messageId}`)
  await insertChunk(tx, { message_id: messageId, idx: 0, content, created_at: at })
}

/** A stored chunk and its size in bytes. */
export interface ChunkSize {
  message_id: string
  idx: number
  size: number
}

/** Up to `limit` chunks from the number `from` on, in order, without their texts. By primary key. */
export function listChunkSizes(db: Queries, messageId: string, from: number, limit: number): Promise<ChunkSize[]> {
  return db.all<ChunkSize>(
    sql`SELECT message_id, idx, octet_length(content) + coalesce(octet_length(part), 0) AS size FROM message_chunks
      WHERE message_id = ${messageId} AND idx >= ${from}
      ORDER BY idx
      LIMIT ${limit}`,
  )
}

/** The chunks from one number to another, in order. By primary key. */
export async function listChunks(db: Queries, messageId: string, first: number, last: number): Promise<Chunk[]> {
  const rows = await db.all<ChunkRow & PartRow>(
    sql`SELECT message_id, idx, content, part, created_at FROM message_chunks
      WHERE message_id = ${messageId} AND idx BETWEEN ${first} AND ${last}
      ORDER BY idx`,
  )
  return rows.map(({ part, created_at, ...row }) => ({
    ...row,
    ...(part !== null && { part: JSON.parse(part) as PartChange }),
    created_at: toInstant(created_at),
  }))
}

/** The end of an answer. */
export interface AnswerEnd {
  status: Exclude<MessageStatus, 'streaming' | 'waiting'>
  finish_reason: string
  failure?: FailureCode | undefined
  /** When another question may be answered, if the provider says so. */
  retry_after_seconds?: number | undefined
  usage?: Usage | undefined
}

/** What has ended. */
export interface EndedAnswer {
  role: string
  created_at: Micros
  root_id: string
  posted_by: string | null
  assistant: string | null
  bytes: number
  /** The chunks that are no text, or have data of their provider. */
  part_count: number
}

/** Stores the end of an answer, and the chunks as its content. */
export async function finishAnswer(tx: Queries, messageId: string, end: AnswerEnd): Promise<EndedAnswer | undefined> {
  return tx.get<EndedAnswer>(
    sql`UPDATE messages SET status = ${end.status}, finish_reason = ${end.finish_reason},
          failure = ${end.failure ?? null}, usage = ${end.usage ? JSON.stringify(end.usage) : null},
            content = (SELECT coalesce(string_agg(c.content, '' ORDER BY c.idx), '') FROM message_chunks c
            WHERE c.message_id = messages.id)
      WHERE id = ${messageId}
     RETURNING role, created_at, root_id, posted_by, assistant, octet_length(content) AS bytes,
            (SELECT count(*) FROM message_chunks c
              WHERE c.message_id = messages.id AND (c.part IS NOT NULL OR c.provider_data IS NOT NULL)) AS part_count`,
  )
}

/** What decides which users may read or cancel an answer. */
export interface AnswerRow {
  conversation_id: string
  role: string
  posted_by: string | null
  assistant: string | null
  status: MessageStatus
  deleted_at: Micros | null
}

/** The columns that decide which users may read or cancel an answer, for any message. By primary key. */
export function findAnswer(db: Queries, messageId: string): Promise<AnswerRow | undefined> {
  return db.get<AnswerRow>(
    sql`SELECT conversation_id, role, posted_by, assistant, status,
            CASE WHEN ${isErasedAuthor(sql`messages.posted_by`)} THEN created_at ELSE deleted_at END AS deleted_at
       FROM messages WHERE id = ${messageId}`,
  )
}
