import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { Layout } from '../conversations/schema-look.ts'

/** A conversation, and what it tells its assistants. */
export interface PlaceOfAnswer {
  assistant_prompt: string | null
  layout: Layout | null
  is_direct: number
  title: string
  ref: string | null
  /** As JSON. */
  metadata: string | null
}

/** A conversation, and what it tells its assistants. By primary key. */
export function findPlaceOfAnswer(db: Queries, conversationId: string): Promise<PlaceOfAnswer | undefined> {
  return db.get<PlaceOfAnswer>(
    sql`SELECT assistant_prompt, layout, is_direct, title, ref, metadata FROM conversations WHERE id = ${conversationId}`,
  )
}
