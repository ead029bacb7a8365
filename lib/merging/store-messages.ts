import type { Queries } from '../storage/database.ts'
import { onRows } from '../storage/on-rows.ts'
import { among, sql } from '../storage/sql.ts'
import type { Merge } from './store.ts'

/** Up to `limit` messages of a user in these conversations. By the threads in which the user is a member. */
export async function listOwnMessages(
  tx: Queries,
  userId: string,
  conversationIds: string[],
  limit: number,
): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT m.id FROM threads t
       JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ${userId}
       JOIN messages m ON m.root_id = t.root_id AND m.posted_by = ${userId}
      WHERE t.conversation_id ${among(tx, conversationIds)} LIMIT ${limit}`,
  )
  return rows.map(({ id }) => id)
}

/** Gives these messages another author. By primary key. */
export async function moveMessages(tx: Queries, { into_id }: Merge, ids: string[]): Promise<void> {
  await tx.run(sql`UPDATE messages SET posted_by = ${into_id} WHERE id ${among(tx, ids)}`)
}

/**
 * Gives deletions and pins in these conversations another user. Deletions by the deleted messages of their threads, pins by
 * `pins_of_user`.
 */
export async function moveActs(tx: Queries, { from_id, into_id }: Merge, conversationIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE messages SET deleted_by = ${into_id}
      WHERE root_id IN (SELECT root_id FROM threads WHERE conversation_id ${among(tx, conversationIds)})
        AND deleted_at IS NOT NULL AND deleted_by = ${from_id}`,
  )
  await tx.run(sql`UPDATE messages SET pinned_by = ${into_id} WHERE pinned_by = ${from_id}`)
}

interface Mentioning {
  id: string
  mentioned: string | null
  mention_origins: string | null
}

const SET_MENTIONS = onRows<Mentioning>(
  { id: 'text', mentioned: 'text', mention_origins: 'text' },
  (given) =>
    sql`UPDATE messages SET mentioned = given.mentioned, mention_origins = given.mention_origins FROM ${given}
      WHERE messages.id = given.id`,
)

/** Lets the messages of these conversations that mention a user mention another one. By the messages of the conversations. */
export async function moveMentions(
  tx: Queries,
  { from_id, into_id }: Merge,
  conversationIds: string[],
): Promise<string[]> {
  const names = tx.dialect === 'sqlite' ? sql`instr` : sql`strpos`
  const rows = await tx.all<Mentioning>(
    sql`SELECT id, mentioned, mention_origins FROM messages
      WHERE root_id IN (SELECT root_id FROM threads WHERE conversation_id ${among(tx, conversationIds)})
        AND (mentioned IS NOT NULL OR mention_origins IS NOT NULL)
        AND ${names}(coalesce(mentioned, '') || ' ' || coalesce(mention_origins, ''), ${from_id}) > 0`,
  )
  const changed = rows.map(({ id, mentioned, mention_origins }) => ({
    id,
    mentioned: mentioned && [...new Set(mentioned.replaceAll(from_id, into_id).split(','))].join(),
    mention_origins: mention_origins?.replaceAll(from_id, into_id) ?? null,
  }))
  await SET_MENTIONS.run(tx, changed)
  return changed.map(({ id }) => id)
}

/**
 * Gives reactions another user, one of each kind to a message. By (user_id, message_id).
 *
 * @returns the messages
 */
export async function moveReactions(tx: Queries, { from_id, into_id }: Merge): Promise<string[]> {
  const rows = await tx.all<{ message_id: string }>(
    sql`SELECT DISTINCT message_id FROM reactions WHERE user_id = ${from_id}`,
  )
  await tx.run(
    sql`DELETE FROM reactions WHERE user_id = ${from_id} AND EXISTS (SELECT 1 FROM reactions own
          WHERE own.user_id = ${into_id} AND own.message_id = reactions.message_id
            AND own.emoji_key = reactions.emoji_key)`,
  )
  await tx.run(sql`UPDATE reactions SET user_id = ${into_id} WHERE user_id = ${from_id}`)
  return rows.map(({ message_id }) => message_id)
}
