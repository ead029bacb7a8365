import { sql } from './sql.ts'

/** What begins the stored path of a photo that a user has set; its key follows, which is also the id of its blob. */
export const OWN_PHOTOS = '/api/avatars/'

/** The condition of the index of own photos, for users `u`. */
export const HAS_OWN_PHOTO = sql`substr(u.avatar_url, 1, 1) = '/'`

/** Whether a user `u` has a blob of this table as photo. By the index of own photos. */
export const IS_PHOTO = sql`EXISTS (SELECT 1 FROM users u
  WHERE ${HAS_OWN_PHOTO} AND u.avatar_url = '/api/avatars/' || blobs.id)`
