import type { Migration } from './migrations.ts'

/**
 * How a process finds what the others have committed: events and ended rights since its last look. On SQLite these have
 * higher ids. On PostgreSQL ids are not in the order of commits, so each row has its transaction, and a process remembers
 * which transactions it has seen.
 */
export const changes: Migration = {
  name: '0013-changes',
  statements: ({ key, serial }, dialect) => [
    // Who may have lost a right: a user, or all participants of a conversation.
    `CREATE TABLE revocations (
      id ${serial},
      user_id ${key}, conversation_id ${key},
      at BIGINT NOT NULL)`,
    'CREATE INDEX revocations_by_age ON revocations (at)',
    ...(dialect === 'postgresql' ? ['events', 'revocations'].flatMap(withTransaction) : []),
  ],
}

/** Older rows have none: a default in the same statement would write the whole table anew. */
function withTransaction(table: string): string[] {
  return [
    `ALTER TABLE ${table} ADD COLUMN xid xid8`,
    `ALTER TABLE ${table} ALTER COLUMN xid SET DEFAULT pg_current_xact_id()`,
    `CREATE INDEX ${table}_by_xid ON ${table} (xid)`,
  ]
}
