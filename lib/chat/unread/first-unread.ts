import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { List } from '../timeline/rules.ts'
import {
  countUnread,
  findActivity,
  findFirstInThread,
  findUnread,
  findUnreadWindow,
  type ThreadReader,
} from './store.ts'
import { findMarkedRoot, listCandidates, listUnreadAmong } from './store-membership.ts'

/** With more unread messages the first one is looked for from the time the reader joined, in so many messages. */
const MANY = 500

/** So many of them come first: often the very first is unread. */
const FEW = 8

/** The number of threads that the first search from the end looks at; each further one looks at twice as many. */
const THREADS_AT_FIRST = 64

/** The arrival of the earliest message of a list that a reader has not read. */
export async function findFirstUnread(db: Queries, reader: ThreadReader, list: List): Promise<Micros | undefined> {
  const { view, id } = list
  if (view === 'thread') {
    const { unread_replies = 0 } = (await countUnread(db, reader, [id])).get(id) ?? {}
    return unread_replies > 0 ? findFirstInThread(db, reader, id) : undefined
  }
  const { total } = await findUnread(db, reader)
  if (total === 0) return undefined
  const roots = view === 'roots' ? await findFirstRoot(db, reader, list) : undefined
  if (roots) return roots.first
  return (total > MANY ? await findAmongFirst(db, reader, list) : undefined) ?? findFromEnd(db, reader, list, total)
}

/**
 * Looks at the first roots behind the mark of all roots, and at those that were marked unread.
 *
 * @returns `undefined` if the first one may be behind many roots that were read one by one
 */
async function findFirstRoot(
  db: Queries,
  reader: ThreadReader,
  { view, id }: List,
): Promise<{ first: Micros | undefined } | undefined> {
  const after = Math.max(reader.joined_at, reader.roots_read_to)
  for (const limit of [FEW, MANY]) {
    const candidates = await listCandidates(db, { view, id, after, limit })
    const unread = await listUnreadAmong(db, reader, candidates)
    const first = candidates.find((message) => unread.has(message.id))
    if (!first && candidates.length === limit) continue
    const marked = await findMarkedRoot(db, reader)
    const arrivals = [...(first ? [first.created_at] : []), ...(marked === undefined ? [] : [marked])]
    return { first: arrivals.length === 0 ? undefined : Math.min(...arrivals) }
  }
  return undefined
}

/** Looks at the messages from the time the reader joined: in a conversation that was never read, the first is unread. */
async function findAmongFirst(db: Queries, reader: ThreadReader, { view, id }: List): Promise<Micros | undefined> {
  for (const limit of [FEW, MANY]) {
    const candidates = await listCandidates(db, { view, id, after: reader.joined_at, limit })
    const unread = await listUnreadAmong(db, reader, candidates)
    const first = candidates.find((message) => unread.has(message.id))
    if (first) return first.created_at
  }
  return undefined
}

/**
 * Looks at the threads from the latest activity backwards, until all unread messages are in them. It costs as the threads
 * with activity since the oldest unread one, of which the index of marks passes over those that are read to the end.
 */
async function findFromEnd(
  db: Queries,
  reader: ThreadReader,
  { view }: List,
  total: number,
): Promise<Micros | undefined> {
  let first: Micros | undefined
  for (let [left, before, size] = [total, Number.MAX_SAFE_INTEGER, THREADS_AT_FIRST]; left > 0; size *= 2) {
    const since = await findActivity(db, reader, { before, size })
    if (since === undefined) break
    const { unread, at } = await findUnreadWindow(db, reader, { before, since, isOfRoots: view === 'roots' })
    left -= unread
    before = since
    if (at !== null) first = Math.min(first ?? at, at)
  }
  return first
}
