import type { Queries } from '../storage/database.ts'
import { among, type Micros, sql } from '../storage/sql.ts'
import type { Merge } from './store.ts'

/**
 * Gives the notifications of one user to another: one for each message, thread and direct conversation, none of what the
 * user has done. By the notifications of both users.
 *
 * @param messageIds the messages of the one
 */
export async function moveNotifications(
  tx: Queries,
  { from_id, into_id }: Merge,
  messageIds: readonly string[],
): Promise<void> {
  const both = among(tx, [from_id, into_id])
  await tx.run(sql`DELETE FROM notifications WHERE user_id = ${into_id} AND id ${among(tx, messageIds)}`)
  await tx.run(
    sql`DELETE FROM notifications WHERE user_id = ${from_id}
          AND EXISTS (SELECT 1 FROM messages m WHERE m.id = notifications.id AND m.posted_by ${both})`,
  )
  await tx.run(sql`DELETE FROM notifications WHERE user_id ${both} AND kind = 'added' AND actor_user_id ${both}`)
  await tx.run(
    sql`UPDATE notifications SET read_at = theirs.read_at
       FROM (SELECT id, read_at FROM notifications WHERE user_id = ${from_id} AND read_at IS NOT NULL) AS theirs
      WHERE notifications.user_id = ${into_id} AND notifications.id = theirs.id AND notifications.read_at IS NULL`,
  )
  await tx.run(
    sql`DELETE FROM notifications WHERE user_id = ${from_id}
          AND EXISTS (SELECT 1 FROM notifications own WHERE own.user_id = ${into_id} AND (own.id = notifications.id
               OR (notifications.read_at IS NULL AND own.read_at IS NULL AND own.scope_id = notifications.scope_id)
               OR (notifications.read_at IS NULL AND own.read_at IS NULL AND own.kind = 'direct'
                   AND notifications.kind = 'direct' AND own.root_id = notifications.root_id)))`,
  )
  await tx.run(sql`UPDATE notifications SET user_id = ${into_id} WHERE user_id = ${from_id}`)
  await tx.run(
    sql`UPDATE notifications SET actor_user_id = ${into_id} WHERE actor_user_id = ${from_id} AND kind = 'added'`,
  )
  await tx.run(
    sql`UPDATE notifications SET actor_user_id = ${into_id}
      WHERE kind = 'direct' AND actor_user_id = ${from_id}
        AND root_id IN (SELECT root_id FROM messages WHERE id ${among(tx, messageIds)})`,
  )
}

/** Reads the notifications that stand for a conversation that is direct no longer. By the notifications of each user. */
export async function readDirect(
  tx: Queries,
  conversationId: string,
  userIds: readonly string[],
  at: Micros,
): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET read_at = ${at}
      WHERE user_id ${among(tx, userIds)} AND read_at IS NULL AND kind = 'direct' AND conversation_id = ${conversationId}`,
  )
}

/** Counts the unread mentions of a user in these conversations anew. By the notifications of the user. */
export async function recountMentions(tx: Queries, userId: string, conversationIds: string[]): Promise<void> {
  await tx.run(
    sql`UPDATE participants SET unread_mentions = coalesce((
          SELECT count(*) FROM notifications n
            JOIN messages m ON m.id = CASE WHEN n.scope_id IS NULL THEN n.id ELSE n.message_id END
           WHERE n.user_id = participants.user_id AND n.read_at IS NULL AND n.hidden = 0
             AND n.kind IN ('mention', 'mention_all', 'reply', 'approval')
             AND m.conversation_id = participants.conversation_id), 0)
      WHERE user_id = ${userId} AND conversation_id ${among(tx, conversationIds)}`,
  )
}
