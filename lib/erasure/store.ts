import type { Erasure } from '../accounts/users/schema.ts'
import type { Queries } from '../storage/database.ts'
import { type Micros, sql } from '../storage/sql.ts'

/** An erased user whose messages are still being processed. */
export interface ErasedAuthor {
  user_id: string
  messages: Erasure['messages']
  erased_at: Micros
}

/** Hides the author of messages from this transaction on, and with `erase` the texts. `erase` cannot be undone. */
export async function insertErasedAuthor(tx: Queries, { user_id, messages, erased_at }: ErasedAuthor): Promise<void> {
  await tx.run(
    sql`INSERT INTO erased_authors (user_id, messages, erased_at) VALUES (${user_id}, ${messages}, ${erased_at})
     ON CONFLICT (user_id) DO UPDATE SET messages = excluded.messages WHERE erased_authors.messages = 'keep'`,
  )
}

/** By primary key. */
export function findErasedAuthor(db: Queries, userId: string): Promise<ErasedAuthor | undefined> {
  return db.get<ErasedAuthor>(sql`SELECT user_id, messages, erased_at FROM erased_authors WHERE user_id = ${userId}`)
}

export async function deleteErasedAuthor(tx: Queries, userId: string): Promise<void> {
  await tx.run(sql`DELETE FROM erased_authors WHERE user_id = ${userId}`)
}
