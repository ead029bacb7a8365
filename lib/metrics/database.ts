import { type Family, sharedGauge, single } from './page.ts'

/** The values of the database that are read for the page; `undefined` is what could not be read. */
export interface DatabaseLevels {
  /** The size of the database, and of SQLite's WAL. */
  sizes: { bytes: number; wal_bytes: number } | undefined
  /** Connections to PostgreSQL, and calls that wait for one; none with SQLite. */
  pool: { in_use: number; idle: number; waiting: number }
  /** Rows, as they were counted some minutes ago at most. */
  rows: { users: number; conversations: number; messages: number; waiting: number } | undefined
  /** The size of the files of messages, and the uploads under way; 0 while files are off. Counted with the rows. */
  files: { bytes: number; uploading: number } | undefined
  /** The webhooks by status; 0 while they are off. Counted with the rows. */
  webhooks: { unverified: number; active: number; disabled: number } | undefined
}

/** The pool of SQLite, which has none. */
export const NO_POOL: DatabaseLevels['pool'] = { in_use: 0, idle: 0, waiting: 0 }

/** The metrics of the database. */
export function databaseFamilies({ sizes, pool, rows, webhooks }: DatabaseLevels): Family[] {
  const { in_use, idle, waiting } = pool
  return [
    sharedGauge('chat_database_bytes', 'Size of the database', sizes?.bytes),
    sharedGauge('chat_database_wal_bytes', "Size of SQLite's WAL; 0 with PostgreSQL", sizes?.wal_bytes),
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
    sharedGauge('chat_users', 'Users, counted every five minutes', rows?.users),
    sharedGauge('chat_conversations', 'Conversations, counted every five minutes', rows?.conversations),
    sharedGauge('chat_messages', 'Messages that are not deleted, counted every five minutes', rows?.messages),
    sharedGauge(
      'chat_assistant_waiting',
      'Calls of tools that wait for a decision, counted every five minutes',
      rows?.waiting,
    ),
    {
      name: 'chat_webhooks',
      help: 'Webhooks by status, counted every five minutes; 0 while webhooks are off',
      type: 'gauge',
      together: 'max',
      read: () => Object.entries(webhooks ?? {}).map(([status, value]) => ({ labels: { status }, value })),
    },
  ]
}
