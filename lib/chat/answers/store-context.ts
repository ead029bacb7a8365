import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'

/** What a conversation tells its assistants. */
export interface PlaceOfAnswer {
  assistant_prompt: string | null
}

/** What a conversation tells its assistants. By primary key. */
export function findPlaceOfAnswer(db: Queries, conversationId: string): Promise<PlaceOfAnswer | undefined> {
  return db.get<PlaceOfAnswer>(sql`SELECT assistant_prompt FROM conversations WHERE id = ${conversationId}`)
}
