import type { Queries } from '../../storage/database.ts'
import { PARTITION, partitionOf } from './rules.ts'
import { type Docs, FIRST_SPAN, type Part, type Terms, type Wanted } from './rules-lookup.ts'
import { toMatchExpression } from './rules-match.ts'
import { findInPartition, listPartitions } from './store-fts5.ts'
import { findAny, findFar, findNear, findWordNumbers } from './store-lookup.ts'

/** Messages that may match, newest first: all from `low` on are among them. */
export interface Found {
  docs: number[]
  low: number
  /** Whether the caller's conversations were part of what the index was asked. */
  isOwn: boolean
}

/**
 * Each of the caller's conversations has a place in the index, or in each segment of FTS5's, and to find all of these takes
 * longer than to compare some hundred messages with the conversations. With more of them, the first look leaves them out; on
 * PostgreSQL also each that is expected to find few messages, and on SQLite each behind a partition that had few.
 */
const FEW_CONVERSATIONS = 8

/** Messages of the index, newest first. */
export async function findEntries(db: Queries, terms: Wanted, part: Part): Promise<Found> {
  const most = db.dialect === 'postgresql' ? part.limit : Number.MAX_VALUE
  const isFew = part.isFirst || part.expected <= most
  const isOwn = terms.own.length > 0 && !(isFew && terms.own.length > FEW_CONVERSATIONS)
  const groups = isOwn ? [...terms.groups, terms.own] : terms.groups
  const { docs, floor } = await findDocs(db, { all: terms.all, groups }, part)
  return { docs, low: docs.length < part.limit ? floor : docs.at(-1)!, isOwn }
}

async function findDocs(db: Queries, terms: Terms, part: Part): Promise<Docs> {
  // Everything is wanted: an index of words finds nothing without a word.
  if (terms.all.length + terms.groups.length === 0) return findAny(db, part)
  if (db.dialect === 'sqlite') return findSqlite(db, terms, part)
  const numbers = await findWordNumbers(db, terms)
  if (numbers.all.length + numbers.groups.length === 0) return findAny(db, part)
  return part.span === FIRST_SPAN ? findNear(db, numbers, part) : findFar(db, numbers, part)
}

/** How long one look goes from partition to partition: the other calls of the process wait for its end. */
const LOOK_MS = 10

/** In one partition after another, the newest first, until it has enough or the time is up. */
async function findSqlite(db: Queries, terms: Terms, { before, limit }: Part): Promise<Docs> {
  const match = toMatchExpression(terms)
  const until = performance.now() + LOOK_MS
  const docs: number[] = []
  for (const partition of await listPartitions(db)) {
    if (partition > partitionOf(before - 1)) continue
    docs.push(...(await findInPartition(db, partition, { match, before, limit: limit - docs.length })))
    if (docs.length === limit || performance.now() > until) return { docs, floor: partition * PARTITION }
  }
  return { docs, floor: 0 }
}
