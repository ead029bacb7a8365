import type { Range } from '../../lib/live/feed/feed.ts'
import type { FeedOrder, FeedRow, Place } from '../../lib/live/feed/feed-order.ts'
import { sqliteOrder } from '../../lib/live/feed/feed-order.ts'
import { postgresOrder } from '../../lib/live/feed/postgres-order.ts'
import { sees } from '../../lib/live/log/snapshots.ts'
import type { Database, Dialect } from '../../lib/storage/database.ts'
import type { Sql } from '../../lib/storage/sql.ts'
import type { Interleaving } from './interleavings.ts'

/** Which rows `listBetween` reads. */
export interface Between {
  from: Place
  to: Place
  afterId: number
  limit: number
}

/** A row to append. */
export type Line = Pick<FeedRow, 'conversation_id' | 'type' | 'user_id' | 'detail'>

export type SimulatedServer = ReturnType<typeof createServer>

/**
 * The log of all conversations in memory, with transactions as those of a database: on PostgreSQL they end in another order
 * than they have begun, and one waits for another that has locked the same conversation.
 */
export function createServer(dialect: Dialect, work: Interleaving) {
  const rows: FeedRow[] = []
  const open = new Set<number>()
  const locked = new Set<string>()
  const heads = new Map<string, number>()
  let ids = 0
  let clock = 0
  let next = 100
  let completed = 99
  let commits = 0

  const isOne = dialect === 'sqlite'
  const headOf = (id: string) => heads.get(id) ?? 0

  function begin(): number {
    open.add(next)
    return next++
  }

  function end(xid: number): void {
    open.delete(xid)
    completed = Math.max(completed, xid)
  }

  function append(xid: number, lines: readonly Line[]): FeedRow[] {
    clock++
    return lines.map((line) => {
      const seq = headOf(line.conversation_id) + 1
      heads.set(line.conversation_id, seq)
      return { ...line, id: ++ids, seq, xid, message_id: null, for_user_id: null, created_at: clock }
    })
  }

  /** Waits until no other transaction has the conversations. */
  async function lock(conversations: Set<string>): Promise<void> {
    while ([...conversations].some((id) => locked.has(id))) await work.pause()
    for (const id of conversations) locked.add(id)
  }

  const snapshot = () => {
    const xmax = completed + 1
    const unfinished = [...open].filter((xid) => xid < xmax).sort((a, b) => a - b)
    return `${unfinished[0] ?? xmax}:${xmax}:${unfinished}`
  }

  return {
    rows,
    countCommits: () => commits,
    begin,
    end,
    /** Commits rows, or rolls them back. @returns them, if they are committed */
    async commit(lines: readonly Line[], isRollback = false): Promise<FeedRow[]> {
      const xid = begin()
      const conversations = new Set(lines.map((line) => line.conversation_id))
      if (!isOne) {
        do await work.pause()
        while (work.chance(0.7))
        await lock(conversations)
      }
      const before = new Map(heads)
      const added = append(xid, lines)
      if (!isOne) await work.pause()
      if (isRollback) for (const id of conversations) heads.set(id, before.get(id) ?? 0)
      if (isRollback && isOne) ids -= added.length
      if (!isRollback) rows.push(...added)
      commits++
      for (const id of conversations) locked.delete(id)
      end(xid)
      return isRollback ? [] : added
    },
    feedOf: (answer: () => Promise<void>) => createFeed(dialect, { rows, snapshot, answer }),
  }
}

interface Stored {
  rows: FeedRow[]
  snapshot: () => string
  /** Is awaited before and after a read. */
  answer: () => Promise<void>
}

/** The reads of the log: those of its order are the real ones, on a database that has nothing else. */
function createFeed(dialect: Dialect, { rows, snapshot, answer }: Stored) {
  async function read<T>(find: () => T): Promise<T> {
    await answer()
    const found = find()
    await answer()
    return found
  }
  const lastOf = (key: 'id' | 'xid') => rows.reduce((last, row) => Math.max(last, row[key]!), 0)

  function news(xmax: number, unfinished: string, after: number, limit: number) {
    const late = new Set(unfinished.slice(1, -1).split(',').map(Number))
    const fresh = rows.filter(({ id, xid }) => id > after && (xid! >= xmax || late.has(xid!)))
    return JSON.stringify(fresh.sort((a, b) => a.id - b.id).slice(0, limit))
  }

  function outOfOrder(xmax: number, unfinished: string) {
    const seen = { xmax, unfinished: unfinished.slice(1, -1).split(',').map(Number) }
    const first = new Map<string, number>()
    for (const { conversation_id: id, seq, xid } of rows)
      if (!sees(seen, xid!)) first.set(id, Math.min(seq, first.get(id) ?? seq))
    const found = rows.filter((row) => sees(seen, row.xid!) && row.seq > (first.get(row.conversation_id) ?? Infinity))
    return [...new Set(found.map(({ xid }) => String(xid)))].map((xid) => ({ xid }))
  }

  const database = {
    dialect,
    changeToken: async () => snapshot(),
    get: ({ text, params }: Sql) =>
      read(() => {
        if (text.includes('sqlite_sequence')) return { seq: lastOf('id') }
        const head = { now: snapshot(), last: String(lastOf('xid')) }
        if (!text.includes('latest AS')) return head
        const [xmax, unfinished, after, limit] = params as unknown as [string, string, number, number]
        return { ...head, count: 0, rows: news(Number(xmax), unfinished, after, limit) }
      }),
    all: ({ text, params }: Sql) =>
      read<unknown[]>(() => {
        if (text.includes('unseen')) return outOfOrder(Number(params[0]), params[1] as string)
        const [place, limit] = params as unknown as [number, number]
        return rows.filter(({ id }) => id > place).slice(0, limit)
      }),
  } as unknown as Database

  const order = (dialect === 'sqlite' ? sqliteOrder(database) : postgresOrder(database)) as FeedOrder<Place>
  const between = (from: Place, to: Place) => rows.filter((row) => !isUpTo(from, row) && isUpTo(to, row)).sort(byId)
  return {
    ...order,
    epoch: () => read(() => '0123456789abcdef'),
    isExpired: () => read(() => false),
    listMissed: (conversations: Iterable<string>, from: Place, to: Place) =>
      read(() =>
        [...conversations].flatMap((id): Range[] => {
          const last = (place: Place) =>
            rows
              .filter((row) => row.conversation_id === id && isUpTo(place, row))
              .reduce((seq, row) => Math.max(seq, row.seq), 0)
          return last(from) < last(to) ? [{ id, from: last(from) + 1, to: last(to) }] : []
        }),
      ),
    listRanges: (ranges: Range[]) =>
      read(() =>
        ranges
          .flatMap(({ id, from, to }) =>
            rows.filter((row) => row.conversation_id === id && row.seq >= from && row.seq <= to),
          )
          .sort(byId),
      ),
    listNumbered: (numbers: readonly number[]) => read(() => rows.filter(({ id }) => numbers.includes(id))),
    listBetween: (_userId: string, { from, to, afterId, limit }: Between) =>
      read(() =>
        between(from, to)
          .filter(({ id }) => id > afterId)
          .slice(0, limit),
      ),
    listOwnChanges: (userId: string, from: Place, to: Place, limit: number) =>
      read(() =>
        between(from, to)
          .filter((row) => row.type === 'membership.changed' && row.user_id === userId)
          .slice(0, limit),
      ),
  }
}

const byId = (a: FeedRow, b: FeedRow) => a.id - b.id

/** Whether a row is one of those up to a place. */
export function isUpTo(place: Place, { id, xid = null }: FeedRow): boolean {
  if (typeof place === 'number') return id <= place
  return sees(place.seen, xid) || (place.next !== undefined && sees(place.next.sees, xid) && id <= place.next.id)
}
