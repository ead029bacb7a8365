import type { Storage } from '../../lib/storage/open.ts'
import { RECOUNT_PARTICIPANTS } from '../../lib/storage/schema/0029-participant-counts.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { IS_POOLED } from './placement.ts'

/** Stores 999 users `p-…`, all of them in one conversation and in one of its threads, and the author of that in 1,000 conversations. */
export async function addCrowd(
  { db }: Storage,
  place: { conversation_id: string; root_id: string; author_id: string },
) {
  await db.write(async (tx) => {
    const { conversation_id, root_id, author_id } = place
    const numbers = "(SELECT 'p-' || lpad(g::text, 3, '0') AS n, g FROM generate_series(1, 999) g) AS given"
    await tx.run(
      statement(`INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
       SELECT n, n, n, n, n, 'member', 1, 1 FROM ${numbers}`),
    )
    await tx.run(
      statement(
        `INSERT INTO conversations (id, title, is_group, created_at, last_seq, clock) SELECT n, '', 1, 1, 0, 0 FROM ${numbers}`,
      ),
    )
    const participants = 'INSERT INTO participants (conversation_id, user_id, role, joined_at)'
    await tx.run(statement(`${participants} SELECT ?, n, 'member', 1 FROM ${numbers}`, [conversation_id]))
    await tx.run(statement(`${participants} SELECT n, ?, 'member', 1 FROM ${numbers}`, [author_id]))
    await tx.run(statement(`${participants} SELECT n, n, 'member', 1 FROM ${numbers}`))
    await tx.run(RECOUNT_PARTICIPANTS)
    await tx.run(
      statement(`INSERT INTO thread_members (root_id, user_id, live_count) SELECT ?, n, 0 FROM ${numbers}`, [root_id]),
    )
  })
  await db.run(sql`ANALYZE`)
}

/**
 * The rows that were read of each table, once the server has counted these numbers of new rows, and no other process of it is
 * left: each reports what it has read when its connection ends.
 */
export async function rowsRead({ db }: Storage, added: Record<string, number>): Promise<Map<string, number>> {
  for (;;) {
    const others = await db.get(
      sql`SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
    )
    const rows = await db.all<{ name: string; inserted: number; read: number }>(
      sql`SELECT relname::text AS name, n_tup_ins AS inserted, seq_tup_read + coalesce(idx_tup_fetch, 0) AS read
         FROM pg_stat_user_tables`,
    )
    const isCounted =
      rows.filter(({ name, inserted }) => inserted >= (added[name] ?? Infinity)).length === Object.keys(added).length
    // PgBouncer keeps them.
    if (isCounted && (!others || IS_POOLED)) return new Map(rows.map(({ name, read }) => [name, read]))
  }
}
