import type { Queries } from '../../storage/database.ts'
import { type EventRow, listEvents, type StoredRow } from '../log/log.ts'
import { type Audited, type Commit, type EventRange, NO_COMMIT } from './commits.ts'

/** The fields in which an event differs from another one with its number. */
type Identity = Pick<EventRow, 'seq' | 'type' | 'message_id' | 'user_id' | 'created_at'>

/** What a transaction of the host has written. The host may have undone some of it by a savepoint of its own. */
export function createWritten(options: {
  /** Whether its events are to be found, which are read for it. */
  needsEvents: boolean
  /** Which of these entries of the audit log are stored. */
  findStored: (db: Queries, ids: Iterable<string>) => Promise<Set<string>>
}) {
  const events = new Map<string, Map<string, number>>()
  const audited: Audited[] = []

  return {
    /** Adds what a call has written. */
    add(commit: Pick<Commit, 'rows' | 'audited'>): void {
      audited.push(...commit.audited)
      for (const row of options.needsEvents ? commit.rows : []) {
        // What makes private events is no part of a transaction of the host.
        if (row.for_user_id !== null) continue
        const numbers = events.get(row.conversation_id) ?? new Map<string, number>()
        events.set(row.conversation_id, numbers)
        numbers.set(keyOf(row), row.seq)
      }
    },

    /** Reads which of it is stored. */
    async find(db: Queries): Promise<Commit> {
      const ids = audited.map(({ id }) => id)
      const stored = ids.length > 0 ? await options.findStored(db, ids) : new Set<string>()
      const ranges: EventRange[] = []
      for (const [conversation_id, numbers] of events) {
        const seqs = [...numbers.values()].sort((a, b) => a - b)
        const first = seqs[0]!
        const rows = await listEvents(db, conversation_id, first - 1, seqs.at(-1)! - first + 1)
        for (const row of rows) if (numbers.has(keyOf(row))) extend(ranges, conversation_id, row)
      }
      return { ...NO_COMMIT, ranges, audited: audited.filter(({ id }) => stored.has(id)) }
    },
  }
}

function keyOf({ seq, type, message_id, user_id, created_at }: Identity): string {
  return [seq, type, message_id, user_id, created_at].join(' ')
}

/** Adds a line to the last range, or begins another one. */
function extend(ranges: EventRange[], conversation_id: string, { seq, id }: StoredRow): void {
  const range = ranges.at(-1)
  if (range?.conversation_id === conversation_id && range.last + 1 === seq) {
    range.last = seq
    range.ids.push(id)
  } else ranges.push({ conversation_id, first: seq, last: seq, known: [], ids: [id] })
}
