import { type Family, single } from './page.ts'

/** The values of the database that are read for the page. */
export interface DatabaseLevels {
  /** Of the database, and of SQLite's WAL. */
  bytes: number
  wal_bytes: number
  /** Connections to PostgreSQL, and calls that wait for one; none with SQLite. */
  pool: { in_use: number; idle: number; waiting: number }
  /** Rows, as they were counted some minutes ago at most. */
  rows: { users: number; conversations: number; messages: number }
  /** The size of the files of messages, and the uploads under way; 0 while files are off. Counted with the rows. */
  files: { bytes: number; uploading: number }
}

/** The values before anything was read. */
export const NO_LEVELS: DatabaseLevels = {
  bytes: 0,
  wal_bytes: 0,
  pool: { in_use: 0, idle: 0, waiting: 0 },
  rows: { users: 0, conversations: 0, messages: 0 },
  files: { bytes: 0, uploading: 0 },
}

/** The metrics of the database. */
export function databaseFamilies({ bytes, wal_bytes, pool, rows }: DatabaseLevels): Family[] {
  // Of the database, which all processes share.
  const shared = (name: string, help: string, value: number): Family => ({
    ...single('gauge', name, help, () => value),
    together: 'max',
  })
  const { in_use, idle, waiting } = pool
  return [
    shared('chat_database_bytes', 'Size of the database', bytes),
    shared('chat_database_wal_bytes', "Size of SQLite's WAL; 0 with PostgreSQL", wal_bytes),
    {
      name: 'chat_database_connections',
      help: 'Connections to PostgreSQL; none with SQLite',
      type: 'gauge',
      read: () => [
        { labels: { state: 'in_use' }, value: in_use },
        { labels: { state: 'idle' }, value: idle },
      ],
    },
    single('gauge', 'chat_database_waiting', 'Calls that wait for a connection to PostgreSQL', () => waiting),
    shared('chat_users', 'Users, counted every five minutes', rows.users),
    shared('chat_conversations', 'Conversations, counted every five minutes', rows.conversations),
    shared('chat_messages', 'Messages that are not deleted, counted every five minutes', rows.messages),
  ]
}
