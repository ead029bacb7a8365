import { BLOCK } from './rules.ts'
import type { IndexTerm } from './rules-query.ts'

/** What a search asks the index for: all of these terms, and one of each of the groups. */
export interface Wanted {
  all: readonly IndexTerm[]
  /** One term of each group must match; no group is empty. */
  groups: readonly (readonly string[])[]
  /** One of the caller's conversations; empty if they are too many. Each message is compared with them anyway. */
  own: readonly string[]
}

/** The part of it that one look asks for. */
export type Terms = Pick<Wanted, 'all' | 'groups'>

/** On PostgreSQL, this many of the newest numbers are read one after another: frequent words are found there. */
export const NEAR = 2_000

/** This many messages are read at once, whatever blocks they are in; else this many blocks. */
const MAX_MESSAGES = 5_000
const MAX_BLOCKS = 1_024

/**
 * How far the next scan of PostgreSQL's index goes: not beyond the nearest messages, a number of blocks, or all of it.
 */
export type Span = number

export const FIRST_SPAN: Span = 0

/**
 * How far the next look goes.
 *
 * @param result how many messages the last one found, and whether there were more than it takes at once
 * @param left how many numbers are left to be read
 */
export function nextSpan(span: Span, result: { hits: number; isDense: boolean }, left: number): Span {
  // Where there are many, a wide look would read them all for the few that are taken.
  if (result.isDense) return Math.min(MAX_BLOCKS, span && Math.max(1, span / 4))
  if (span === FIRST_SPAN) return 4
  const expected = (result.hits * left) / (span * BLOCK)
  return expected <= MAX_MESSAGES ? Number.POSITIVE_INFINITY : Math.min(MAX_BLOCKS, span * 4)
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

/** The numbers of messages that have the terms, and the number from which on all of them are among these, unless they are too many. */
export interface Docs {
  docs: number[]
  floor: number
}
