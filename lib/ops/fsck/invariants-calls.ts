import { sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

/** The rows of the part of a call `c`, as `each`. */
const IS_OF_CALL = sql`each.message_id = c.message_id AND each.part LIKE '{"id":' || c.part_id || ',"type":"tool"%'`

const OPEN = sql`('requested', 'waiting', 'approved', 'running')`

/** The invariants of calls of tools. */
export const CALLS: Invariant[] = [
  {
    name: 'calls-have-rows',
    says: 'The answer of every call of a tool shows the call, in the state that it has.',
    remedy: 'Only readers of the answer see another state. Restore a backup from before, or delete the message.',
    find: sql`SELECT c.id FROM tool_calls c
      WHERE NOT EXISTS (SELECT 1 FROM message_chunks each
                         WHERE ${IS_OF_CALL} AND each.idx = c.part_id AND each.part LIKE '%"call_id":"' || c.id || '"%')
         OR NOT EXISTS (SELECT 1 FROM message_chunks each
                         WHERE ${IS_OF_CALL} AND each.part LIKE '%"state":"' || c.state || '"%'
                           AND each.idx = (SELECT max(each.idx) FROM message_chunks each WHERE ${IS_OF_CALL}))`,
  },
  {
    name: 'waiting-has-a-call',
    says: 'An answer waits exactly while participants decide on all that is left of its calls, and an ended one has no open call.',
    remedy: 'Cancel the answer, or restart the service: it ends answers that no process writes.',
    find: sql`SELECT m.id FROM messages m
      WHERE m.status = 'waiting'
        AND (NOT EXISTS (SELECT 1 FROM tool_calls c WHERE c.message_id = m.id AND c.state = 'waiting')
             OR EXISTS (SELECT 1 FROM tool_calls c
                         WHERE c.message_id = m.id AND c.state IN ('requested', 'approved', 'running')))
      UNION SELECT m.id FROM tool_calls c JOIN messages m ON m.id = c.message_id
      WHERE c.state IN ${OPEN} AND m.status NOT IN ('streaming', 'waiting')`,
  },
  {
    name: 'approval-one-outcome',
    says: 'The outcome of a decision fits the state of its call.',
    remedy: 'Only what readers see of the decision is wrong. Restore a backup from before, or delete the message.',
    // In a copy of a database that was not started yet, decisions have expired and their calls still wait.
    find: sql`SELECT c.id FROM tool_calls c
      WHERE c.approval IS NOT NULL AND NOT CASE c.approval
              WHEN 'waiting' THEN c.state = 'waiting' AND c.decided_at IS NULL
              WHEN 'expired' THEN c.state IN ('expired', 'waiting')
              WHEN 'approved' THEN c.state IN ('approved', 'running', 'done', 'failed', 'unknown', 'cancelled')
              ELSE c.state = c.approval END
         OR c.approval IS NULL AND c.state IN ('waiting', 'approved', 'expired')`,
  },
]
