import type { Queries } from '../../storage/database.ts'
import { join, type Sql, sql } from '../../storage/sql.ts'
import { BLOCK, blockOf, blockWord, toWordNumber } from './rules.ts'
import { type Docs, NEAR, type Part, type Terms } from './rules-lookup.ts'

/** With more words that begin so, the texts of messages are compared instead: an index would be asked for each of them. */
const MAX_WORDS = 2_000

async function readDocs(db: Queries, statement: Sql): Promise<number[]> {
  const rows = await db.all<{ doc: number }>(statement)
  return rows.map(({ doc }) => Number(doc))
}

/** The newest messages, whatever words they have. */
export async function findAny(db: Queries, { before, limit }: Part): Promise<Docs> {
  const newest = sql`SELECT doc FROM messages WHERE doc < ${before} ORDER BY doc DESC LIMIT ${limit}`
  return { docs: await readDocs(db, newest), floor: 0 }
}

/** The numbers that a look-up in PostgreSQL's index requires: all of these, and one of each group. */
export interface Numbers {
  all: number[]
  groups: number[][]
}

/** A beginning is one of the words that begin so. In the same snapshot as the index: a word may be new. */
export async function findWordNumbers(db: Queries, { all, groups }: Terms): Promise<Numbers> {
  const beginnings = all.flatMap(({ words, isPrefix }) => (isPrefix ? words.slice(-1) : []))
  const whole = all.flatMap(({ words, isPrefix }) => (isPrefix ? words.slice(0, -1) : words))
  const found = await Promise.all(beginnings.map((beginning) => findBeginning(db, beginning)))
  const single = groups.flatMap((group) => (group.length === 1 ? group : []))
  return {
    all: [...whole, ...single].map(toWordNumber),
    groups: [
      ...found.flatMap((numbers) => (numbers ? [numbers] : [])),
      ...groups.filter(({ length }) => length > 1).map((group) => group.map(toWordNumber)),
    ],
  }
}

/** Conditions on the words of a message. Each is one of GIN, which goes from match to match of them. */
function hasWords({ all, groups }: Numbers): Sql {
  const list = (numbers: number[]) => `{${numbers.join(',')}}`
  const some = groups.map((group) => sql`words && ${list(group)}::integer[]`)
  return join(all.length > 0 ? [sql`words @> ${list(all)}::integer[]`, ...some] : some, ' AND ')
}

/** By the primary key: it ends where there are enough. The subquery has an OFFSET, so that the planner keeps to it. */
export async function findNear(db: Queries, numbers: Numbers, { before, limit }: Part): Promise<Docs> {
  const floor = Math.max(0, before - NEAR)
  const docs = await readDocs(
    db,
    sql`SELECT doc FROM (
       SELECT doc, words FROM search_docs WHERE doc < ${before} AND doc >= ${floor} ORDER BY doc DESC OFFSET 0) AS near
      WHERE ${hasWords(numbers)} LIMIT ${limit}`,
  )
  return { docs, floor }
}

/** By the index of words; the subquery has an OFFSET, so that the planner does not read by the primary key instead. */
export async function findFar(db: Queries, { all, groups }: Numbers, { before, limit, span }: Part): Promise<Docs> {
  const last = blockOf(before - 1)
  const first = Math.max(0, last - span + 1)
  const blocks =
    span === Number.POSITIVE_INFINITY
      ? []
      : [Array.from({ length: last - first + 1 }, (_, n) => toWordNumber(blockWord(first + n)))]
  const docs = await readDocs(
    db,
    sql`SELECT doc FROM (
       SELECT doc FROM search_docs WHERE ${hasWords({ all, groups: [...groups, ...blocks] })} OFFSET 0) AS found
      WHERE doc < ${before} ORDER BY doc DESC LIMIT ${limit}`,
  )
  return { docs, floor: first * BLOCK }
}

/** The numbers of the words that begin so; `undefined` if they are too many. By primary key. */
async function findBeginning(db: Queries, prefix: string): Promise<number[] | undefined> {
  const rows = await db.all<{ number: number }>(
    sql`SELECT number FROM search_words WHERE word >= ${prefix} AND word <= ${`${prefix}\u{10FFFF}`}
          LIMIT ${MAX_WORDS + 1}`,
  )
  return rows.length > MAX_WORDS ? undefined : rows.map(({ number }) => number)
}
