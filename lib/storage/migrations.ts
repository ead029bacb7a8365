import type { Dialect } from './database.ts'

/** One step of the schema. Once released it never changes: its checksum is kept with the data. */
export interface Migration {
  name: string
  statements: (types: ColumnTypes) => string[]
}

interface ColumnTypes {
  /** Text compared byte by byte, for keys and for what is ordered by. */
  key: string
  /** A number the database hands out, rising. */
  serial: string
  /** Of a table of short rows: kept in the order of its primary key, with no other one beside it. */
  lean: string
}

/** What a column is called on each database. */
export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { key: 'TEXT', serial: 'INTEGER PRIMARY KEY AUTOINCREMENT', lean: ' WITHOUT ROWID' },
  postgresql: { key: 'TEXT COLLATE "C"', serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY', lean: '' },
}

const foundation: Migration = {
  name: '0001-foundation',
  statements: ({ key, serial, lean }) => [
    // `epoch`: names this history of the database; a restored backup gets another one.
    `CREATE TABLE meta (name ${key} PRIMARY KEY, value TEXT NOT NULL)${lean}`,

    `CREATE TABLE users (
      id ${key} PRIMARY KEY,
      email TEXT NOT NULL, email_key ${key} NOT NULL UNIQUE,
      username TEXT NOT NULL, username_key ${key} NOT NULL UNIQUE,
      display_name TEXT,
      roles TEXT NOT NULL,
      password_hash TEXT,
      disabled_at BIGINT,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
    // At most one row: of several setup calls at once, one gets it.
    `CREATE TABLE setup (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      done_at BIGINT NOT NULL)`,

    `CREATE TABLE sessions (
      id ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      token_hash ${key} NOT NULL UNIQUE, csrf_hash ${key} NOT NULL,
      issued_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL,
      idle_expires_at BIGINT NOT NULL, absolute_expires_at BIGINT NOT NULL,
      user_agent TEXT, ip TEXT)`,
    `CREATE INDEX sessions_of_user ON sessions (user_id, issued_at)`,

    // `clock`: the last instant given out; instants are unique and rising within a conversation.
    `CREATE TABLE conversations (
      id ${key} PRIMARY KEY,
      title TEXT NOT NULL,
      is_group INTEGER NOT NULL,
      created_at BIGINT NOT NULL,
      clock BIGINT NOT NULL,
      last_seq BIGINT NOT NULL DEFAULT 0)`,
    `CREATE TABLE participants (
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      role TEXT NOT NULL,
      joined_at BIGINT NOT NULL,
      PRIMARY KEY (conversation_id, user_id))${lean}`,
    `CREATE INDEX participations_of_user ON participants (user_id)`,

    `CREATE TABLE threads (
      root_id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      created_at BIGINT NOT NULL, last_activity_at BIGINT NOT NULL,
      message_count INTEGER NOT NULL, participant_count INTEGER NOT NULL,
      UNIQUE (conversation_id, last_activity_at))${lean}`,
    `CREATE TABLE thread_authors (
      root_id ${key} NOT NULL REFERENCES threads ON DELETE CASCADE,
      user_id ${key} NOT NULL,
      PRIMARY KEY (root_id, user_id))${lean}`,
    // `path`: byte order is depth-first order. `reply_count`: the number of the next reply, deleted ones included.
    `CREATE TABLE messages (
      id ${key} PRIMARY KEY,
      conversation_id ${key} NOT NULL,
      root_id ${key} NOT NULL REFERENCES threads ON DELETE CASCADE,
      parent_id ${key},
      author_user_id ${key},
      role TEXT NOT NULL,
      content TEXT NOT NULL,
      path ${key} NOT NULL, depth INTEGER NOT NULL,
      reply_count INTEGER NOT NULL DEFAULT 0,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL, edited_at BIGINT, deleted_at BIGINT,
      UNIQUE (root_id, path))`,
    `CREATE INDEX messages_by_arrival ON messages (root_id, created_at)`,

    // Names what happened and to whom; the text is read from where it lives.
    `CREATE TABLE events (
      id ${serial},
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      seq BIGINT NOT NULL,
      type TEXT NOT NULL,
      message_id ${key}, user_id ${key}, detail TEXT,
      created_at BIGINT NOT NULL,
      UNIQUE (conversation_id, seq))`,
  ],
}

/** Every step of the schema, oldest first. Append only. */
export const MIGRATIONS: readonly Migration[] = [foundation]
