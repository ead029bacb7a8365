import { NOTHING_SPENT } from '../../../lib/chat/metering/rules-spent.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { among, each, literal, sql, statement } from '../../../lib/storage/sql.ts'

interface Approvals {
  rooms: readonly string[]
  /** How many calls wait in each conversation, of one answer. */
  calls: number
  asker: string
}

/** Stores an answer in each conversation whose calls wait for its owners and admins, until a day has passed. */
export async function fillApprovals(db: Database, { rooms, calls, asker }: Approvals): Promise<void> {
  const at = literal(Date.now() * 1000 + 1_000_000)
  const numbers = statement(
    `(WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${calls - 1}) SELECT n FROM counted)`,
  )
  const room = sql`SELECT value AS id FROM ${each(db, rooms)}`
  // As ids of the service are, one for each call.
  const callId = sql`substr(c.id, 1, 32) || substr('000' || n.n, length('000' || n.n) - 3)`
  const part = sql`'{"id":' || n.n || ',"type":"tool","call_id":"' || ${callId} ||
    '","name":"pay","step":1,"state":"waiting","input":{"amount":5}}'`
  await db.write(
    async (tx) => {
      await tx.run(
        sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
         SELECT id, id, ${at}, ${at}, 1, 1 FROM (${room}) AS c`,
      )
      await tx.run(
        sql`INSERT INTO messages (id, conversation_id, root_id, posted_by, role, content, prompt, path, depth, status,
              created_at)
         SELECT id, id, id, ${asker}, 'assistant', '', 'Pay', '10', 0, 'waiting', ${at} FROM (${room}) AS c`,
      )
      await tx.run(
        sql`INSERT INTO message_chunks (message_id, idx, content, part, created_at)
         SELECT c.id, n.n, '', ${part}, ${at} FROM (${room}) AS c CROSS JOIN ${numbers} AS n`,
      )
      await tx.run(
        sql`INSERT INTO tool_calls (id, message_id, conversation_id, user_id, part_id, step, name, state, input,
              requested_at, approval, approvers, quorum, not_asker, by_keys, expires_at)
         SELECT ${callId}, c.id, c.id, ${asker}, n.n, 1, 'pay', 'waiting', '{"amount":5}', ${at}, 'waiting', 'admins', 1, 0, 0,
                ${at} + 86400000000 FROM (${room}) AS c CROSS JOIN ${numbers} AS n`,
      )
      await tx.run(
        sql`INSERT INTO answer_runs (message_id, step, attempts, ran_ms, spent, tokens, micros)
         SELECT id, 1, 0, 0, ${JSON.stringify({ ...NOTHING_SPENT, steps: 1 })}, 0, 0 FROM (${room}) AS c`,
      )
      await tx.run(
        sql`INSERT INTO tasks (id, kind, key, due_at)
         SELECT id, 'approval.expire', id, expires_at FROM tool_calls WHERE conversation_id ${among(db, rooms)}`,
      )
    },
    { timeout: false },
  )
  await db.run(db.dialect === 'postgresql' ? sql`VACUUM ANALYZE` : sql`ANALYZE`)
}
