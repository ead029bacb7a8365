import type { Cutoff } from '../../core/clock.ts'
import { ChatError } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** The time for which a repeated post returns the first one. */
const KEPT_SECONDS = 24 * 60 * 60

/** A post with an idempotency key. `request` contains the values that identify the post. */
export interface Repeatable {
  user_id: string
  key: string
  request: readonly string[]
}

/**
 * Locks the keys of a user: another call with one of them waits until this transaction ends. New rows that refer to the
 * user do not wait: their transaction may have locked the conversation of the post.
 */
export async function lockKeysOf(tx: Queries, userId: string): Promise<void> {
  await tx.get(sql`SELECT id FROM users
         WHERE id = ${userId}${tx.dialect === 'postgresql' ? sql` FOR NO KEY UPDATE` : sql``}`)
}

/**
 * The message of an earlier, equal post.
 *
 * @throws ChatError `idempotency_mismatch` if the key was used for another post
 */
export async function findEarlier(tx: Queries, post: Repeatable, now: Micros): Promise<string | undefined> {
  const row = await tx.get<{ request_hash: string; message_id: string }>(
    sql`SELECT request_hash, message_id FROM idempotency_keys WHERE user_id = ${post.user_id} AND name = ${post.key}
          AND created_at > ${now - KEPT_SECONDS * SECOND}`,
  )
  if (row && row.request_hash !== hashOf(post)) throw new ChatError('idempotency_mismatch')
  return row?.message_id
}

/** The message of an earlier post with this key, whatever was posted. By primary key. */
export async function findRemembered(
  db: Queries,
  { user_id, key }: Pick<Repeatable, 'user_id' | 'key'>,
  now: Micros,
): Promise<string | undefined> {
  const row = await db.get<{ message_id: string }>(
    sql`SELECT message_id FROM idempotency_keys WHERE user_id = ${user_id} AND name = ${key}
          AND created_at > ${now - KEPT_SECONDS * SECOND}`,
  )
  return row?.message_id
}

/** Stores the message of a post for repeated posts. */
export async function remember(tx: Queries, post: Repeatable, messageId: string, now: Micros): Promise<void> {
  await tx.run(
    sql`INSERT INTO idempotency_keys (user_id, name, request_hash, message_id, created_at)
          VALUES (${post.user_id}, ${post.key}, ${hashOf(post)}, ${messageId}, ${now})
     ON CONFLICT (user_id, name) DO UPDATE SET
       request_hash = excluded.request_hash, message_id = excluded.message_id, created_at = excluded.created_at`,
  )
}

/** Deletes up to `limit` expired keys. By created_at. @returns the number of deleted keys */
export function deleteKeysBefore(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM idempotency_keys WHERE (user_id, name) IN (
       SELECT user_id, name FROM idempotency_keys WHERE created_at <= ${now - KEPT_SECONDS * SECOND}
       ORDER BY created_at LIMIT ${limit})`,
  )
}

/** Deletes up to `limit` keys of a user. By primary key. @returns the number of deleted keys */
export function deleteKeysOf(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM idempotency_keys WHERE user_id = ${userId} AND name IN (
       SELECT name FROM idempotency_keys WHERE user_id = ${userId} LIMIT ${limit})`,
  )
}

function hashOf({ request }: Repeatable): string {
  return digest(JSON.stringify(request))
}
