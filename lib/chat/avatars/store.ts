import type { Queries } from '../../storage/database.ts'
import { HAS_OWN_PHOTO, OWN_PHOTOS } from '../../storage/own-photos.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** The bytes of a photo that a user has set. */
export interface PhotoRow {
  /** Also the key of the photo. */
  blob_id: string
  type: string | null
  size: number
  created_at: Micros
}

/** The photo with a key, unless its user is being erased. By the index of own photos. */
export function findPhoto(db: Queries, key: string): Promise<PhotoRow | undefined> {
  return db.get<PhotoRow>(
    sql`SELECT b.id AS blob_id, u.avatar_type AS type, b.size, b.created_at
       FROM users u JOIN blobs b ON b.id = ${key}
      WHERE ${HAS_OWN_PHOTO} AND u.avatar_url = ${OWN_PHOTOS + key}
        AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = u.id)`,
  )
}

/** Sets the photo of a user, or removes it. By primary key. */
export async function setPhoto(
  tx: Queries,
  userId: string,
  photo: { key: string; type: string } | undefined,
  at: Micros,
): Promise<void> {
  const path = photo ? OWN_PHOTOS + photo.key : null
  await tx.run(
    sql`UPDATE users SET avatar_url = ${path}, avatar_type = ${photo?.type ?? null}, updated_at = ${at}
      WHERE id = ${userId}`,
  )
}
