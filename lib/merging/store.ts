import type { Queries } from '../storage/database.ts'
import { among, type Micros, sql } from '../storage/sql.ts'
import { ADD_TO_SUM } from '../storage/usage-sums.ts'

/** The two users of a merge. */
export interface Merge {
  from_id: string
  into_id: string
  /** The digest of the token by which `from`, a guest, is claimed. */
  token_hash?: string
}

/** A conversation in which a user participates, or did. */
export interface MergedPlace {
  id: string
  title: string
  clock: Micros
  deleted_at: Micros | null
  is_direct: number
  pair_key: string | null
}

/**
 * Locks the conversations in which a user participates, or did, deleted ones too: up to `limit`, in the order of their ids,
 * so that two calls cannot deadlock.
 */
export function lockPlaces(tx: Queries, userId: string, limit: number): Promise<MergedPlace[]> {
  return tx.all<MergedPlace>(
    sql`SELECT id, title, clock, deleted_at, is_direct, pair_key FROM conversations WHERE id IN (
          SELECT conversation_id FROM participants WHERE user_id = ${userId}
           UNION SELECT conversation_id FROM former_participants WHERE user_id = ${userId})
      ORDER BY id LIMIT ${limit} ${tx.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``}`,
  )
}

/** The ids of the conversations of {@link lockPlaces}, in no order. By user_id. */
export async function listPlaceIds(tx: Queries, userId: string): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT conversation_id AS id FROM participants WHERE user_id = ${userId}
         UNION SELECT conversation_id AS id FROM former_participants WHERE user_id = ${userId}`,
  )
  return rows.map(({ id }) => id)
}

/** Lets a direct conversation be that of another pair, or an ordinary frozen one, which shows its messages as before. */
export async function setPair(
  tx: Queries,
  conversationId: string,
  pair: { pair_key: string } | { title: string; frozen_at: Micros },
): Promise<void> {
  await tx.run(
    'pair_key' in pair
      ? sql`UPDATE conversations SET pair_key = ${pair.pair_key} WHERE id = ${conversationId}`
      : sql`UPDATE conversations SET pair_key = NULL, is_direct = 0, layout = 'stream', title = ${pair.title},
            frozen_at = ${pair.frozen_at} WHERE id = ${conversationId}`,
  )
}

/** Moves what a user has stored: files, bytes, bots, webhooks, notices, private events, invites, and requests that await an answer. By the indexes of users. */
export async function moveBelongings(tx: Queries, { from_id, into_id }: Merge): Promise<void> {
  await tx.run(sql`UPDATE attachments SET uploaded_by = ${into_id} WHERE uploaded_by = ${from_id}`)
  await tx.run(sql`UPDATE blobs SET uploaded_by = ${into_id} WHERE uploaded_by = ${from_id}`)
  await tx.run(sql`UPDATE email_requests SET created_by = ${into_id} WHERE created_by = ${from_id}`)
  await tx.run(sql`UPDATE notices SET user_id = ${into_id} WHERE user_id = ${from_id}`)
  await tx.run(sql`UPDATE events SET for_user_id = ${into_id} WHERE for_user_id = ${from_id}`)
  await tx.run(sql`UPDATE hooks SET created_by = ${into_id} WHERE created_by = ${from_id}`)
  await tx.run(sql`UPDATE webhooks SET user_id = ${into_id} WHERE user_id = ${from_id}`)
  await tx.run(sql`UPDATE users SET owner_id = ${into_id} WHERE owner_id = ${from_id}`)
}

/** Lets the calls of a user, and what programs answered to them, name another user: but for keys, which are the user's own. By the indexes of callers. */
export async function moveCalls(tx: Queries, { from_id, into_id }: Merge): Promise<void> {
  await tx.run(sql`UPDATE messages SET invoked_by = ${into_id} WHERE invoked_by = ${from_id}`)
  await tx.run(sql`UPDATE notices SET invoked_by = ${into_id} WHERE invoked_by = ${from_id}`)
  await tx.run(
    sql`UPDATE invocations SET user_id = ${into_id}, idempotency_key = NULL, request_hash = NULL
      WHERE user_id = ${from_id}`,
  )
}

/** Moves the names of a user's chats, but those that the other one has given to another chat. By primary key. */
export async function moveChats(tx: Queries, { from_id, into_id }: Merge): Promise<void> {
  await tx.run(
    sql`UPDATE chats SET user_id = ${into_id}
      WHERE user_id = ${from_id} AND name NOT IN (SELECT own.name FROM chats own WHERE own.user_id = ${into_id})`,
  )
}

/** Moves the invites that a user has made into these conversations. By conversation_id. */
export async function moveInvites(tx: Queries, { from_id, into_id }: Merge, conversationIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE invites SET created_by = ${into_id}
      WHERE conversation_id ${among(tx, conversationIds)} AND created_by = ${from_id}`,
  )
}

/** Adds the sums of what a user has stored to those of another one. By primary key. */
export async function moveSums(tx: Queries, { from_id, into_id }: Merge): Promise<void> {
  const theirs = sql`n IN (SELECT n FROM usage_rounds) AND kind = 'user' AND key = ${from_id}`
  await tx.run(
    sql`INSERT INTO usage_sums (n, kind, key, files, bytes, released_bytes, message_bytes, total)
     SELECT n, kind, CAST(${into_id} AS TEXT), files, bytes, released_bytes, message_bytes, total FROM usage_sums
      WHERE ${theirs}
     ${ADD_TO_SUM}`,
  )
  await tx.run(sql`DELETE FROM usage_sums WHERE ${theirs}`)
}
