import type { Migration } from './migrations.ts'

/**
 * How a process finds what the others have committed: events and ended rights since its last look. On SQLite these have
 * higher ids. On PostgreSQL ids are not in the order of commits, so each row has its transaction, and a process remembers
 * which transactions it has seen.
 */
export const changes: Migration = {
  name: '0013-changes',
  statements: ({ key, serial }, dialect) => [
    // What may have lost a right: a user, or all participants of a conversation.
    `CREATE TABLE revocations (
      id ${serial},
      user_id ${key}, conversation_id ${key},
      at BIGINT NOT NULL)`,
    'CREATE INDEX revocations_by_age ON revocations (at)',
    // A stream of all conversations that resumes finds the changes of the user's own memberships.
    "CREATE INDEX membership_changes ON events (user_id, id) WHERE type = 'membership.changed'",
    ...(dialect === 'postgresql' ? [...['events', 'revocations'].flatMap(withTransaction), ...WITHOUT_FEED] : []),
  ],
}

/** The transactions replace the numbers in `feed`; older processes beside this one still write these. */
const WITHOUT_FEED = ['DROP INDEX events_without_feed', 'ALTER TABLE events DROP CONSTRAINT IF EXISTS events_feed_key']

/** Older rows have none: a default in the same statement would rewrite the whole table. */
function withTransaction(table: string): string[] {
  return [
    `ALTER TABLE ${table} ADD COLUMN xid xid8`,
    `ALTER TABLE ${table} ALTER COLUMN xid SET DEFAULT pg_current_xact_id()`,
    `CREATE INDEX ${table}_by_xid ON ${table} (xid)`,
  ]
}
