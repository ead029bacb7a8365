import type { Database } from '../../storage/database.ts'
import { SERVER_STARTED, sql } from '../../storage/sql.ts'
import { NEXT_XID } from '../log/restored-dump.ts'
import type { Revocation } from '../log/revocations.ts'
import { type Snapshot, toParams, toWholeSnapshot } from '../log/snapshots.ts'

/** What other processes may have committed since the last look; also what this process has committed itself. */
export interface Changes {
  /** The conversations with new events, each with the number of its last one. */
  conversations: { id: string; last_seq: number }[]
  revocations: Revocation[]
}

/** With more than this, a process checks everything that it follows. */
const MAX_CHANGES = 10_000

/** Where a poll of the database has ended. */
type Mark = SqliteMark | PostgresMark

interface SqliteMark {
  token: string
  event: number
  revocation: number
}

interface PostgresMark extends Snapshot {
  /** After a crash, or a takeover by a replica, numbers of transactions come again. */
  server: string
}

/** The result of a look; `undefined` for changes if they are unknown: the first look, and after too much has happened. */
interface Look<M> {
  changes: Changes | undefined
  mark: M
}

const NOTHING: Changes = { conversations: [], revocations: [] }

/**
 * Finds what was committed since the last look. The work follows what is new, not what is stored or followed.
 *
 * A look counts only once the caller has acted on it: until `accept` the next one finds the same again.
 */
export function createChanges(db: Database) {
  const look = db.dialect === 'sqlite' ? lookAtSqlite : lookAtPostgres
  let mark: Mark | undefined
  return {
    async find(): Promise<{ changes: Changes | undefined; accept(): void }> {
      const changes = await look(db, mark as never)
      const accept = () => {
        mark = changes.mark
      }
      return { changes: changes.changes, accept }
    },
    /** Forgets the last look: the changes since are unknown. */
    forget(): void {
      mark = undefined
    },
  }
}

/** Rows have their numbers in the order of commits, as SQLite commits one transaction after another. */
async function lookAtSqlite(db: Database, before: SqliteMark | undefined): Promise<Look<SqliteMark>> {
  // Before the token: if that has not changed since the last look, which read on after its own, all of these were found,
  // or are of this process.
  const ends = await db.get<{ event: number; revocation: number }>(
    sql`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS event,
            coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'revocations'), 0) AS revocation`,
  )
  const mark = { token: await db.changeToken(), ...ends! }
  if (before?.token === mark.token) return { mark, changes: NOTHING }
  if (!before || mark.event - before.event > MAX_CHANGES || mark.event < before.event)
    return { mark, changes: undefined }
  const conversations = await db.all<Changes['conversations'][number]>(
    sql`SELECT conversation_id AS id, max(seq) AS last_seq FROM events WHERE id > ${before.event}
          GROUP BY conversation_id`,
  )
  const revocations = await db.all<Revocation>(
    sql`SELECT user_id, conversation_id FROM revocations WHERE id > ${before.revocation} LIMIT ${MAX_CHANGES}`,
  )
  return { mark, changes: revocations.length < MAX_CHANGES ? { conversations, revocations } : undefined }
}

const MARK = sql`pg_current_snapshot()::text AS now, ${SERVER_STARTED} AS server`

interface MarkRow {
  now: string
  server: string
}

const toMark = ({ now, server }: MarkRow): PostgresMark => ({ ...toWholeSnapshot(now), server })

/**
 * One statement sees one snapshot. Rows that are visible now, and whose transaction was not finished in the snapshot of
 * the last look, are exactly the new ones, in whatever order they were committed.
 */
async function lookAtPostgres(db: Database, before: PostgresMark | undefined): Promise<Look<PostgresMark>> {
  if (!before) return { mark: toMark((await db.get<MarkRow>(sql`SELECT ${MARK}`))!), changes: undefined }
  const [xmax, unfinished] = toParams(before)
  const row = await db.get<MarkRow & { events: number; conversations: string | null; revocations: string | null }>(
    // The order makes the planner, which knows nothing of transactions, use their index.
    sql`WITH fresh AS MATERIALIZED (
            (SELECT conversation_id, seq FROM events
              WHERE xid >= ${xmax}::xid8 AND xid < ${NEXT_XID} ORDER BY xid LIMIT ${MAX_CHANGES})
            UNION ALL SELECT conversation_id, seq FROM events WHERE xid = ANY (${unfinished}::xid8[])),
          ended AS MATERIALIZED (
            (SELECT user_id, conversation_id FROM revocations
              WHERE xid >= ${xmax}::xid8 AND xid < ${NEXT_XID} ORDER BY xid LIMIT ${MAX_CHANGES})
            UNION ALL SELECT user_id, conversation_id FROM revocations WHERE xid = ANY (${unfinished}::xid8[]))
     SELECT ${MARK}, (SELECT count(*) FROM fresh) AS events,
            (SELECT json_agg(each)::text
               FROM (SELECT conversation_id AS id, max(seq) AS last_seq FROM fresh GROUP BY conversation_id) AS each)
              AS conversations,
            (SELECT json_agg(ended)::text FROM ended) AS revocations`,
  )
  const changes: Changes = {
    conversations: JSON.parse(row!.conversations ?? '[]'),
    revocations: JSON.parse(row!.revocations ?? '[]'),
  }
  const mark = toMark(row!)
  // A server that has crashed and recovered by itself gives the numbers of lost transactions again.
  const isSameServer = mark.server === before.server && mark.xmax >= before.xmax
  const isKnown = isSameServer && row!.events < MAX_CHANGES && changes.revocations.length < MAX_CHANGES
  return { mark, changes: isKnown ? changes : undefined }
}
