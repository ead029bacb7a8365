import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { Layout } from '../conversations/schema-look.ts'

/** What a conversation tells its assistants. */
export interface PlaceOfAnswer {
  assistant_prompt: string | null
  layout: Layout | null
  is_direct: number
}

/** What a conversation tells its assistants. By primary key. */
export function findPlaceOfAnswer(db: Queries, conversationId: string): Promise<PlaceOfAnswer | undefined> {
  return db.get<PlaceOfAnswer>(
    sql`SELECT assistant_prompt, layout, is_direct FROM conversations WHERE id = ${conversationId}`,
  )
}
