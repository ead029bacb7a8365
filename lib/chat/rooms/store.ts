import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** A row of the directory. */
export interface RoomRow {
  id: string
  title: string
  title_key: string
  topic: string | null
  icon: string | null
  visibility: 'listed' | 'open'
  /** As JSON. */
  policy: string | null
  participant_count: number
  frozen_at: Micros | null
  /** 1 if the user participates. */
  joined: number
}

/** The place of a room in the directory. */
export type RoomPlace = Pick<RoomRow, 'title_key' | 'id'>

/** Up to `limit` rooms after one, by title, as a user sees them. By the index `directory`. */
export function listRooms(db: Queries, userId: string, after: RoomPlace, limit: number): Promise<RoomRow[]> {
  return db.all<RoomRow>(
    sql`SELECT c.id, c.title, c.title_key, c.topic, c.icon, c.visibility, c.policy, c.participant_count, c.frozen_at,
          CASE WHEN p.user_id IS NULL THEN 0 ELSE 1 END AS joined
       FROM conversations c LEFT JOIN participants p ON p.conversation_id = c.id AND p.user_id = ${userId}
      WHERE c.visibility IS NOT NULL AND (c.title_key, c.id) > (${after.title_key}, ${after.id})
        AND c.deleted_at IS NULL
      ORDER BY c.title_key, c.id
      LIMIT ${limit}`,
  )
}
