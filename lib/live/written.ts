import type { AuditEntry, Context } from '../context.ts'
import type { Queries } from '../storage/database.ts'
import type { Addition } from './appending.ts'
import { type EventRow, listEvents } from './log.ts'

/** The fields in which an event differs from another one with its number. */
type Identity = Pick<EventRow, 'seq' | 'type' | 'message_id' | 'user_id' | 'created_at'>

/** What a transaction of the host has written. The host may have undone some of it by a savepoint of its own. */
export function createWritten(
  { afterEvents, hooks }: Pick<Context, 'afterEvents' | 'hooks'>,
  audit: {
    /** Which of these entries are stored. */
    findStored: (db: Queries, ids: Iterable<string>) => Promise<Set<string>>
    log: (entry: AuditEntry) => void
  },
) {
  const events = new Map<string, Map<string, number>>()
  const audited = new Map<string, AuditEntry>()

  return {
    addEvents(conversation_id: string, first: number, { at, events: added }: Addition): void {
      const numbers = events.get(conversation_id) ?? new Map<string, number>()
      events.set(conversation_id, numbers)
      for (const [index, { type, message_id = null, user_id = null }] of added.entries()) {
        const seq = first + index
        numbers.set(keyOf({ seq, type, message_id, user_id, created_at: at }), seq)
      }
    },

    addAudit: (id: string, entry: AuditEntry) => void audited.set(id, entry),

    /** Reads which of it is stored. @returns what passes that on, after the commit */
    async find(db: Queries): Promise<() => void> {
      const stored = audited.size > 0 ? await audit.findStored(db, audited.keys()) : new Set<string>()
      const found: { conversation_id: string; first: number; last: number }[] = []
      for (const [conversation_id, numbers] of hooks.afterEvent ? events : []) {
        const seqs = [...numbers.values()].sort((a, b) => a - b)
        const first = seqs[0]!
        const rows = await listEvents(db, conversation_id, first - 1, seqs.at(-1)! - first + 1)
        for (const row of rows) if (numbers.has(keyOf(row))) extend(found, conversation_id, row.seq)
      }
      return () => {
        for (const { conversation_id, ...range } of found) afterEvents.add(conversation_id, { ...range, known: [] })
        for (const [id, entry] of audited) if (stored.has(id)) audit.log(entry)
      }
    },
  }
}

function keyOf({ seq, type, message_id, user_id, created_at }: Identity): string {
  return [seq, type, message_id, user_id, created_at].join(' ')
}

/** Adds a number to the last range, or begins another one. */
function extend(found: { conversation_id: string; first: number; last: number }[], id: string, seq: number): void {
  const range = found.at(-1)
  if (range?.conversation_id === id && range.last + 1 === seq) range.last = seq
  else found.push({ conversation_id: id, first: seq, last: seq })
}
