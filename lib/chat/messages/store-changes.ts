import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { type Micros, sql } from '../../storage/sql.ts'

export async function replaceMetadata(tx: Queries, id: string, metadata: string | null): Promise<void> {
  await tx.run(sql`UPDATE messages SET metadata = ${metadata} WHERE id = ${id}`)
}

export async function markDeleted(
  tx: Queries,
  id: string,
  { at, by, reason = null }: { at: Micros; by: string | null; reason?: string | null | undefined },
): Promise<void> {
  await tx.run(sql`UPDATE messages SET deleted_at = ${at}, deleted_by = ${by}, delete_reason = ${reason}
         WHERE id = ${id}`)
}

export async function markRestored(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`UPDATE messages SET deleted_at = NULL, deleted_by = NULL, delete_reason = NULL WHERE id = ${id}`)
}

/** Marks a message as one that the host has refused with all of its text. */
export async function markRefused(tx: Queries, id: string, finish_reason: string): Promise<void> {
  await tx.run(sql`UPDATE messages SET finish_reason = ${finish_reason} WHERE id = ${id}`)
}

/** Marks messages as generated text. By primary key. */
export const markGenerated = onRows<{ id: string }>(
  { id: 'text' },
  (given) => sql`UPDATE messages SET generated = 1 FROM ${given} WHERE messages.id = given.id`,
)

/** Stores what questions came with. */
export const setContext = onRows<{ id: string; context: string }>(
  { id: 'text', context: 'text' },
  (given) => sql`UPDATE messages SET context = given.context FROM ${given} WHERE messages.id = given.id`,
)

/** Sets whether the text of a message is generated. By primary key. */
export async function setGenerated(tx: Queries, messageId: string, isGenerated: boolean): Promise<void> {
  await tx.run(sql`UPDATE messages SET generated = ${isGenerated ? 1 : null} WHERE id = ${messageId}`)
}
