import type { Queries, Row } from '../../storage/database.ts'
import { BLOCK, blockOf, blockWord, numberOf, scopeWord } from './rules.ts'
import type { IndexTerm } from './rules-query.ts'

/** What a search asks the index for: all of these terms, and one of each of the groups. */
export interface Wanted {
  all: readonly IndexTerm[]
  /** Of each group one; none is empty. */
  groups: readonly (readonly string[])[]
  /** One of the caller's conversations; empty if they are too many. Each message is compared with them anyway. */
  own: readonly string[]
}

/** Messages that may match, newest first: all from `low` on are among them. */
export interface Found {
  docs: number[]
  low: number
  /** Whether the caller's conversations were part of what the index was asked. */
  isOwn: boolean
}

/** On PostgreSQL, the newest so many numbers are read one after another: what is frequent is found there. */
const NEAR = 2_000

/** So many messages are read at once, whatever blocks they are in; else so many blocks. */
const MOST_AT_ONCE = 5_000
const MOST_BLOCKS = 1_024

/** With more words that begin so, the texts of messages are compared instead: an index would be asked for each of them. */
const MOST_WORDS = 2_000

/** How far the next look at PostgreSQL's index goes: not beyond the nearest messages, so many blocks, or all of it. */
export type Span = number

export const FIRST_SPAN: Span = 0

/**
 * How far the next look goes.
 *
 * @param found how many messages the last one found, and whether there were more than it takes at once
 * @param left how many numbers are left to be looked at
 */
export function nextSpan(span: Span, found: { hits: number; isDense: boolean }, left: number): Span {
  // Where there are many, a wide look would read them all for the few that are taken.
  if (found.isDense) return Math.min(MOST_BLOCKS, span && Math.max(1, span / 4))
  if (span === FIRST_SPAN) return 4
  const expected = (found.hits * left) / (span * BLOCK)
  return expected <= MOST_AT_ONCE ? Number.POSITIVE_INFINITY : Math.min(MOST_BLOCKS, span * 4)
}

/** How many numbers a look goes over, of those that are left. */
function widthOf(span: Span, left: number): number {
  return Math.min(left, span === FIRST_SPAN ? NEAR : span * BLOCK)
}

/** How many messages of all conversations the next look may find, by what the last one found; infinitely many if that is unknown. */
export function expectedHits(
  last: { span: Span; hits: number; isOwn: boolean; isDense: boolean },
  span: Span,
  left: number,
): number {
  if (last.isOwn || last.isDense) return Number.POSITIVE_INFINITY
  return (last.hits * widthOf(span, left)) / widthOf(last.span, Number.POSITIVE_INFINITY)
}

/** Which messages a look is for: the newest up to `limit` below `before`. */
export interface Part {
  before: number
  limit: number
  /** PostgreSQL: how far to look. */
  span: Span
  /** Whether it is the first look of a search. */
  isFirst: boolean
  /** How many messages of all conversations it may find. */
  expected: number
}

/**
 * Each of the caller's conversations has a place in the index, or in each part of FTS5's, and to find all of these takes longer
 * than to compare some hundred messages with the conversations. With more of them, the first look leaves them out, and on
 * PostgreSQL each that is expected to find few messages.
 */
const FEW_CONVERSATIONS = 8

/** Messages of the index, newest first. */
export async function findEntries(db: Queries, wanted: Wanted, part: Part): Promise<Found> {
  const isFew = part.isFirst || (db.dialect === 'postgresql' && part.expected <= part.limit)
  const isOwn = wanted.own.length > 0 && !(isFew && wanted.own.length > FEW_CONVERSATIONS)
  const groups = isOwn ? [...wanted.groups, wanted.own] : wanted.groups
  const { rows, floor } = await findRows(db, { all: wanted.all, groups }, part)
  const docs = rows.map(({ doc }) => Number(doc))
  return { docs, low: docs.length < part.limit ? floor : docs.at(-1)!, isOwn }
}

type Terms = Pick<Wanted, 'all' | 'groups'>

async function findRows(db: Queries, terms: Terms, part: Part): Promise<{ rows: Row[]; floor: number }> {
  // Everything is wanted: an index of words finds nothing without a word.
  if (terms.all.length + terms.groups.length === 0) return { rows: await findAny(db, part), floor: 0 }
  if (db.dialect === 'sqlite') return { rows: await findSqlite(db, terms, part), floor: 0 }
  const numbers = await numbersOf(db, terms)
  if (numbers.all.length + numbers.groups.length === 0) return { rows: await findAny(db, part), floor: 0 }
  return part.span === FIRST_SPAN ? findNear(db, numbers, part) : findFar(db, numbers, part)
}

function findAny(db: Queries, { before, limit }: Part): Promise<Row[]> {
  return db.all<Row>('SELECT doc FROM messages WHERE doc < ? ORDER BY doc DESC LIMIT ?', before, limit)
}

function findSqlite(db: Queries, { all, groups }: Terms, { before, limit }: Part): Promise<Row[]> {
  const parts = [...all.map(phraseOf), ...groups.map((group) => `(${group.map((word) => `"${word}"`).join(' OR ')})`)]
  return db.all<Row>(
    'SELECT rowid AS doc FROM search_index(?) WHERE rowid < ? ORDER BY rowid DESC LIMIT ?',
    parts.join(' AND '),
    before,
    limit,
  )
}

/** FTS5 knows the order of words, except behind the beginning of a long text. */
function phraseOf({ words, isPrefix }: IndexTerm): string {
  const star = isPrefix ? ' *' : ''
  const phrase = `"${words.join(' ')}"${star}`
  if (words.length === 1) return phrase
  return `(${phrase} OR ("${[scopeWord.long, ...words].join('" AND "')}"${star}))`
}

/** The numbers that PostgreSQL's index is asked for: all of these, and one of each group. */
interface Numbers {
  all: number[]
  groups: number[][]
}

/** A beginning is one of the words that begin so. In the same snapshot as the index: a word may be new. */
async function numbersOf(db: Queries, { all, groups }: Terms): Promise<Numbers> {
  const beginnings = all.flatMap(({ words, isPrefix }) => (isPrefix ? words.slice(-1) : []))
  const whole = all.flatMap(({ words, isPrefix }) => (isPrefix ? words.slice(0, -1) : words))
  const found = await Promise.all(beginnings.map((beginning) => findBeginning(db, beginning)))
  const single = groups.flatMap((group) => (group.length === 1 ? group : []))
  return {
    all: [...whole, ...single].map(numberOf),
    groups: [
      ...found.flatMap((numbers) => (numbers ? [numbers] : [])),
      ...groups.filter(({ length }) => length > 1).map((group) => group.map(numberOf)),
    ],
  }
}

/** Conditions on the words of a message, and their parameters. Each is one of GIN, which goes from match to match of them. */
function conditionsOf({ all, groups }: Numbers): { conditions: string[]; params: string[] } {
  const lists = all.length > 0 ? [all, ...groups] : groups
  return {
    conditions: lists.map((_, n) => `words ${n === 0 && all.length > 0 ? '@>' : '&&'} ?::integer[]`),
    params: lists.map((numbers) => `{${numbers.join(',')}}`),
  }
}

/** By the primary key: it ends where there are enough. The subquery has an OFFSET, so that the planner keeps to it. */
async function findNear(db: Queries, numbers: Numbers, { before, limit }: Part) {
  const floor = Math.max(0, before - NEAR)
  const { conditions, params } = conditionsOf(numbers)
  const rows = await db.all<Row>(
    `SELECT doc FROM (
       SELECT doc, words FROM search_docs WHERE doc < ? AND doc >= ? ORDER BY doc DESC OFFSET 0) AS near
      WHERE ${conditions.join(' AND ')} LIMIT ?`,
    before,
    floor,
    ...params,
    limit,
  )
  return { rows, floor }
}

/** By the index of words; the subquery has an OFFSET, so that the planner does not read by the primary key instead. */
async function findFar(db: Queries, { all, groups }: Numbers, { before, limit, span }: Part) {
  const last = blockOf(before - 1)
  const first = Math.max(0, last - span + 1)
  const blocks =
    span === Number.POSITIVE_INFINITY
      ? []
      : [Array.from({ length: last - first + 1 }, (_, n) => numberOf(blockWord(first + n)))]
  const { conditions, params } = conditionsOf({ all, groups: [...groups, ...blocks] })
  const rows = await db.all<Row>(
    `SELECT doc FROM (
       SELECT doc FROM search_docs WHERE ${conditions.join(' AND ')} OFFSET 0) AS found
      WHERE doc < ? ORDER BY doc DESC LIMIT ?`,
    ...params,
    before,
    limit,
  )
  return { rows, floor: first * BLOCK }
}

/** The numbers of the words that begin so; `undefined` if they are too many. By primary key. */
async function findBeginning(db: Queries, prefix: string): Promise<number[] | undefined> {
  const rows = await db.all<{ number: number }>(
    'SELECT number FROM search_words WHERE word >= ? AND word <= ? LIMIT ?',
    prefix,
    `${prefix}\u{10FFFF}`,
    MOST_WORDS + 1,
  )
  return rows.length > MOST_WORDS ? undefined : rows.map(({ number }) => number)
}
