import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { MessageRow } from './store.ts'

/** The columns of a message that the erasure of its author needs. */
export type MessageTrace = Pick<
  MessageRow,
  'id' | 'root_id' | 'path' | 'posted_by' | 'created_at' | 'deleted_at' | 'mention_all'
>

/** Up to `limit` messages of a thread after a path, without their texts. By (root_id, path). */
export function listPathsAfter(db: Queries, rootId: string, path: string, limit: number): Promise<MessageTrace[]> {
  return db.all<MessageTrace>(
    sql`SELECT id, root_id, path, posted_by, created_at, deleted_at, mention_all FROM messages
      WHERE root_id = ${rootId} AND path > ${path}
      ORDER BY path
      LIMIT ${limit}`,
  )
}

/** Removes the author of messages. */
export async function anonymize(tx: Queries, messages: MessageTrace[]): Promise<void> {
  await tx.run(sql`UPDATE messages SET posted_by = NULL WHERE id ${oneOf(tx, messages)}`)
}

/** Deletes messages at the instant `at`, and removes their texts and all that belongs to these, and their authors. */
export async function redact(tx: Queries, messages: MessageTrace[], at: Micros): Promise<void> {
  const these = oneOf(tx, messages)
  await tx.run(
    sql`UPDATE messages SET posted_by = NULL, content = '', parts = NULL, prompt = NULL, context = NULL, metadata = NULL,
            delete_reason = NULL, reaction_list = NULL, attachment_list = NULL, mention_all = NULL, mentioned = NULL, mention_origins = NULL,
            quote_id = NULL, pinned_at = NULL, pinned_by = NULL, deleted_at = coalesce(deleted_at, ${at})
      WHERE id ${these}`,
  )
  const roots = messages.filter(({ id, root_id }) => id === root_id)
  if (roots.length > 0) await tx.run(sql`UPDATE threads SET title = NULL WHERE root_id ${oneOf(tx, roots)}`)
  await tx.run(sql`DELETE FROM message_revisions WHERE message_id ${these}`)
  await tx.run(sql`DELETE FROM message_chunks WHERE message_id ${these}`)
  await tx.run(sql`DELETE FROM tool_calls WHERE message_id ${these}`)
  await tx.run(sql`DELETE FROM reactions WHERE message_id ${these}`)
}

/** Removes up to `limit` reasons that a user gave for deletions. By (deleted_by). @returns the number of reasons */
export function forgetReasons(tx: Queries, userId: string, limit: number): Promise<number> {
  return tx.run(
    sql`UPDATE messages SET delete_reason = NULL
      WHERE id IN (SELECT id FROM messages WHERE deleted_by = ${userId} AND delete_reason IS NOT NULL LIMIT ${limit})`,
  )
}

function oneOf(db: Queries, messages: MessageTrace[]): Sql {
  return among(
    db,
    messages.map((message) => message.id),
  )
}
