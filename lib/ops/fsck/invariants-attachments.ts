import { toList } from '../../chat/attachments/rules.ts'
import { listOfMessage, setList, toAttachment } from '../../chat/attachments/store.ts'
import { findState, noteChanged } from '../../chat/search/store.ts'
import { DAY } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { HAS_OWN_PHOTO } from '../../storage/own-photos.ts'
import { CORRECT_SIZES } from '../../storage/schema/0027-blob-sizes.ts'
import { literal, sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

const IS_LISTED = sql`m.attachment_list LIKE '%' || a.id || '%'`

/** The number of files in a list: in a name, a quotation mark has a backslash before it. */
const LISTED = sql`(length(m.attachment_list) - length(replace(m.attachment_list, '"status":', ''))) / ${literal('"status":'.length)}`

/**
 * The messages whose list has other files than the rows that name them. With UNION, SQLite would read all messages in the
 * order of their ids.
 */
const WRONG_LISTS = sql`SELECT DISTINCT id FROM (
   SELECT m.id FROM attachments a JOIN messages m ON m.id = a.message_id
    WHERE m.attachment_list IS NULL OR NOT ${IS_LISTED}
    UNION ALL
   SELECT m.id FROM messages m
    WHERE m.attachment_list IS NOT NULL
      AND (NOT EXISTS (SELECT 1 FROM attachments a WHERE a.message_id = m.id)
           OR ${LISTED} <> (SELECT count(*) FROM attachments a WHERE a.message_id = m.id))) AS wrong`

/** Composes those lists from the rows. The search then needs the new names. */
async function repairLists(tx: Queries): Promise<void> {
  const ids = (await tx.all<{ id: string }>(WRONG_LISTS)).map(({ id }) => id)
  for (const id of ids) await setList(tx, id, toList((await listOfMessage(tx, id)).map(toAttachment)))
  if (((await findState(tx)) ?? 'off') !== 'off') await noteChanged(tx, ids)
}

/** Users whose photo names no blob. Released ones are taken back by the sweep. */
const WITHOUT_BYTES = sql`SELECT u.id FROM users u
   WHERE ${HAS_OWN_PHOTO} AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.id = substr(u.avatar_url, 14))`

/** The invariants of the rows of files. Another check finds missing bytes. */
export const ATTACHMENTS: Invariant[] = [
  {
    name: 'attachments-with-bytes',
    says: 'A file that can be read has its bytes, which nothing has released.',
    remedy: 'Restore a backup, with its files. Until then, reading the file is 404.',
    find: sql`SELECT a.id FROM attachments a LEFT JOIN blobs b ON b.id = a.blob_id
            WHERE a.status IN ('uploading', 'scanning', 'ready') AND (b.id IS NULL OR b.released_at IS NOT NULL)`,
  },
  {
    name: 'attachments-complete',
    says: 'A complete file has all of its parts, and its bytes have a digest.',
    remedy:
      'Run "chat-server fsck --files --read": it says whether the bytes are there. If not, restore a backup, with its files.',
    find: sql`SELECT a.id FROM attachments a JOIN blobs b ON b.id = a.blob_id
            WHERE a.status IN ('scanning', 'ready')
              AND (b.digest IS NULL OR b.size <> a.size
                   OR b.parts <> (SELECT count(*) FROM attachment_parts p WHERE p.attachment_id = a.id AND p.stored = 1))`,
  },
  {
    name: 'attachments-listed',
    says: 'The list of files of a message has the files whose rows name it, and no others.',
    find: WRONG_LISTS,
    repair: repairLists,
  },
  {
    name: 'attachments-waiting',
    says: 'A file that no message has is deleted some time.',
    find: sql`SELECT id FROM attachments WHERE message_id IS NULL AND expires_at IS NULL`,
    repair: sql`UPDATE attachments SET expires_at = created_at + ${literal(DAY)} WHERE message_id IS NULL AND expires_at IS NULL`,
  },
  {
    name: 'photos-with-bytes',
    says: 'The photo that a user has set has its bytes.',
    find: WITHOUT_BYTES,
    repair: sql`UPDATE users SET avatar_url = NULL, avatar_type = NULL WHERE id IN (${WITHOUT_BYTES})`,
  },
  {
    name: 'attachments-size',
    says: 'The size of all files is the sum of the sizes of their bytes.',
    find: sql`SELECT 'blob_sizes' AS id
             FROM (SELECT coalesce(sum(size), 0) AS bytes,
                          coalesce(sum(CASE WHEN released_at IS NOT NULL THEN size END), 0) AS released_bytes FROM blobs) b,
                  (SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(sum(released_bytes), 0) AS released_bytes FROM blob_sizes) s
            WHERE b.bytes <> s.bytes OR b.released_bytes <> s.released_bytes`,
    repair: CORRECT_SIZES,
  },
]
