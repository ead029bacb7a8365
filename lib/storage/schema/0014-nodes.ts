import type { Migration } from './migrations.ts'

/**
 * The processes that share a PostgreSQL database, the users that each of them has seen, and what they send each other.
 * Nothing of it must survive a crash of the database, so the tables are not logged: a commit does not wait for the disk.
 */
export const nodes: Migration = {
  name: '0014-nodes',
  statements: ({ key, serial }, dialect) =>
    dialect === 'sqlite'
      ? []
      : [
          `CREATE UNLOGGED TABLE nodes (
            id ${key} PRIMARY KEY,
            started_at BIGINT NOT NULL, beat_at BIGINT NOT NULL,
            version TEXT NOT NULL, streams BIGINT NOT NULL)`,
          // since: the first of the open streams; status: what the user has set; left_at: when the process stopped.
          `CREATE UNLOGGED TABLE node_presence (
            node_id ${key} NOT NULL, user_id ${key} NOT NULL,
            streams BIGINT NOT NULL, since BIGINT, status TEXT, status_at BIGINT, seen_at BIGINT, left_at BIGINT,
            PRIMARY KEY (user_id, node_id))`,
          'CREATE INDEX node_presence_by_node ON node_presence (node_id)',
          `CREATE UNLOGGED TABLE signals (
            n ${serial},
            xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
            node_id ${key} NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL)`,
        ],
}
