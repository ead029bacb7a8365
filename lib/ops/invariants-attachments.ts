import type { Invariant } from './invariants.ts'

const IS_LISTED = "m.attachment_list LIKE '%' || a.id || '%'"

/** The invariants of files: of their rows. Whether their bytes are there, another check finds out. */
export const ATTACHMENTS: Invariant[] = [
  {
    name: 'attachments-with-bytes',
    says: 'A file that can be read has its bytes, which nothing has released.',
    remedy: 'Restore the files from a backup. Until then, reading the file is 404.',
    find: `SELECT a.id FROM attachments a LEFT JOIN blobs b ON b.id = a.blob_id
            WHERE a.status IN ('uploading', 'scanning', 'ready') AND (b.id IS NULL OR b.released_at IS NOT NULL)`,
  },
  {
    name: 'attachments-complete',
    says: 'A complete file has all of its parts, and its bytes have a digest.',
    find: `SELECT a.id FROM attachments a JOIN blobs b ON b.id = a.blob_id
            WHERE a.status IN ('scanning', 'ready')
              AND (b.digest IS NULL OR b.size <> a.size
                   OR b.parts <> (SELECT count(*) FROM attachment_parts p WHERE p.attachment_id = a.id AND p.stored = 1))`,
  },
  {
    name: 'attachments-listed',
    says: 'The list of files of a message has the files whose rows name it, and no others.',
    find: `SELECT m.id FROM attachments a JOIN messages m ON m.id = a.message_id
            WHERE m.attachment_list IS NULL OR NOT ${IS_LISTED}
            UNION
           SELECT m.id FROM messages m
            WHERE m.attachment_list IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.message_id = m.id AND ${IS_LISTED})`,
  },
  {
    name: 'attachments-waiting',
    says: 'A file that no message has is deleted some time.',
    find: 'SELECT id FROM attachments WHERE message_id IS NULL AND expires_at IS NULL',
  },
]
