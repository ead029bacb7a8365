import type { Migration } from './migrations.ts'

/** The files of messages: the bytes themselves are elsewhere. */
export const attachments: Migration = {
  name: '0024-attachments',
  statements: ({ key, lean }) => [
    // Bytes in the storage of files, as `<id>/<part>`. `digest`: the SHA-256 of the SHA-256s of its parts, once all are
    // there; a thumbnail has none. `released_at`: since when nothing refers to it.
    `CREATE TABLE blobs (
      id ${key} PRIMARY KEY,
      digest ${key},
      size BIGINT NOT NULL,
      parts BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      released_at BIGINT)`,
    // Equal bytes are stored once.
    'CREATE UNIQUE INDEX live_blobs ON blobs (digest, size) WHERE released_at IS NULL AND digest IS NOT NULL',
    'CREATE INDEX released_blobs ON blobs (released_at) WHERE released_at IS NOT NULL',
    // `expires_at`: when it is deleted unless a message has it by then; with a deleted message, when its bytes are
    // deleted; else null. `type`: as the client calls it; `sniffed`: what its first bytes are. `blob_id`: null once the
    // bytes are deleted.
    `CREATE TABLE attachments (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      message_id ${key} REFERENCES messages ON DELETE CASCADE,
      position BIGINT,
      uploaded_by ${key},
      name TEXT NOT NULL,
      type TEXT,
      sniffed TEXT,
      size BIGINT NOT NULL,
      status TEXT NOT NULL,
      reason TEXT,
      blob_id ${key} REFERENCES blobs,
      thumbnail_blob_id ${key} REFERENCES blobs,
      thumbnail_type TEXT,
      width BIGINT,
      height BIGINT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT)`,
    'CREATE INDEX attachments_of_message ON attachments (message_id) WHERE message_id IS NOT NULL',
    'CREATE INDEX attachments_of_blob ON attachments (blob_id) WHERE blob_id IS NOT NULL',
    'CREATE INDEX attachments_of_thumbnail ON attachments (thumbnail_blob_id) WHERE thumbnail_blob_id IS NOT NULL',
    'CREATE INDEX attachments_in ON attachments (conversation_id)',
    'CREATE INDEX attachments_of_user ON attachments (uploaded_by) WHERE uploaded_by IS NOT NULL',
    'CREATE INDEX attachments_by_end ON attachments (expires_at) WHERE expires_at IS NOT NULL',
    // The parts of an upload. `stored`: 0 while the bytes are being written, 1 once they are durable.
    `CREATE TABLE attachment_parts (
      attachment_id ${key} NOT NULL REFERENCES attachments ON DELETE CASCADE,
      n BIGINT NOT NULL,
      digest ${key} NOT NULL,
      stored BIGINT NOT NULL,
      PRIMARY KEY (attachment_id, n))${lean}`,
    // The attachments of the message as its readers get them, as JSON: a tree is read without their rows.
    'ALTER TABLE messages ADD COLUMN attachment_list TEXT',
  ],
}
