import type { Dialect } from '../../storage/database.ts'
import { type Sql, sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

/** The name of a history, and what stands for a place. */
const FORM = `${'[0-9a-f]'.repeat(16)}.`

/** The condition of a position that is no place in the log. That of another history is one: its webhook is told of the gap. */
function isNowhere(dialect: Dialect): Sql {
  if (dialect === 'postgresql') return sql`position !~ '^[0-9a-f]{16}[.][0-9a-z_]+(-[0-9a-z_]+-[0-9a-z]+){0,1}$'`
  const isAhead = sql`substr(position, 1, 16) = (SELECT value FROM meta WHERE name = 'epoch')
      AND CAST(substr(position, 18) AS INTEGER) > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)`
  return sql`(position NOT GLOB ${`${FORM}[0-9]*`} OR (${isAhead}))`
}

export function webhookInvariants(dialect: Dialect): Invariant[] {
  return [
    {
      name: 'webhook-position-in-log',
      says: 'A webhook that is sent events stands at a place in the log.',
      remedy: 'Harmless: it goes on at the present end of the log, and its receiver is told that events are missing.',
      find: sql`SELECT id FROM webhooks WHERE status = 'active' AND ${isNowhere(dialect)}`,
    },
    {
      name: 'delivery-names-event',
      says: 'What waits to be sent to a webhook is the event of the log that has its number, unless the log has it no more.',
      find: sql`SELECT d.id FROM webhook_deliveries d JOIN events e ON e.id = d.event_number
              WHERE d.status = 'pending' AND (e.type <> d.type OR e.conversation_id <> d.conversation_id)`,
      repair: sql`DELETE FROM webhook_deliveries
              WHERE status = 'pending' AND EXISTS (SELECT 1 FROM events e WHERE e.id = event_number
                    AND (e.type <> webhook_deliveries.type OR e.conversation_id <> webhook_deliveries.conversation_id))`,
    },
  ]
}
