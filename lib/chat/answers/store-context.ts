import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { Layout } from '../conversations/schema-look.ts'
import type { MessageRow } from '../messages/store.ts'

/** A conversation, and what it tells its assistants. */
export interface PlaceOfAnswer {
  assistant_prompt: string | null
  layout: Layout | null
  is_direct: number
  clock: Micros
  title: string
  ref: string | null
  /** As JSON. */
  metadata: string | null
  /** What the question came with, as JSON; of a variant, else that of the first answer of its set. */
  context: string | null
}

/** The conversation of an answer, with what it and the question tell the assistant. By primary key. */
export function findPlaceOfAnswer(
  db: Queries,
  { id, conversation_id, variant_of }: Pick<MessageRow, 'id' | 'conversation_id' | 'variant_of'>,
): Promise<PlaceOfAnswer | undefined> {
  const contextOf = (messageId: string) => sql`(SELECT context FROM messages WHERE id = ${messageId})`
  const context = variant_of === null ? contextOf(id) : sql`coalesce(${contextOf(id)}, ${contextOf(variant_of)})`
  return db.get<PlaceOfAnswer>(
    sql`SELECT assistant_prompt, layout, is_direct, clock, title, ref, metadata, ${context} AS context
       FROM conversations WHERE id = ${conversation_id}`,
  )
}

/** Whether nothing has changed a conversation since an instant of its clock, and no user is being erased. By primary key. */
export async function isUnchanged(db: Queries, conversationId: string, clock: Micros): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM conversations
      WHERE id = ${conversationId} AND clock = ${clock} AND deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM erased_authors)`,
  )
  return row !== undefined
}
