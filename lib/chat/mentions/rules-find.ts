import { uniqueKey } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { findCode } from './rules-code.ts'
import { MAX_PERSONS } from './schema.ts'

/** The key of the name that means all participants. */
export const ALL = 'all'

/**
 * How many candidates of one text are compared: its cost is bounded, however many `@` it has. After them only the first
 * word behind each `@` is one, for this many more.
 */
const MAX_CANDIDATES = 2_000
const MAX_WORDS = 2_000

/** A username in the text may be decomposed: with a mark behind each letter it is twice as long. */
const MAX_WRITTEN_LENGTH = 2 * MAX_LENGTH.username

/** Not inside of a word, an address or a path. */
const BEGINNING = /(?<![\p{L}\p{N}\p{M}@./_-])@(?=\S)/gu

/** A word continues here: with a letter, a digit or `_`, or with some `-`, `.` or `@` inside of it. */
const CONTINUATION = /[\p{L}\p{N}\p{M}_]|[-.@]{1,64}[\p{L}\p{N}_]/uy

/** A line break or another control character ends a name, and so does the next mention. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no username has one.
const STOP = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]|(?<![\p{L}\p{N}\p{M}@./_-])@/u

/** An `@` of a text, and the keys of the names that may stand behind it, longest first: where each of them ends. */
export interface NamePlace {
  at: number
  ends: ReadonlyMap<string, number>
  /** Whether it is in code, unless names with backticks change that. */
  isCode: boolean
}

/** The names that a text may mention. */
export interface WrittenNames {
  text: string
  places: NamePlace[]
}

/**
 * The names that a text may mention: behind each `@` outside of code. A name ends at the end of a word. If names outside of
 * code may have backticks, those in code are listed, too: a backtick in the name of a participant begins or ends no code.
 */
export function findNames(text: string): WrittenNames {
  if (!text.includes('@')) return { text, places: [] }
  const code = findCode(text)
  const outside: number[] = []
  const inside: number[] = []
  let next = 0
  for (const { index } of text.matchAll(BEGINNING)) {
    while (next < code.length && code[next]![1] <= index) next++
    const isCode = next < code.length && code[next]![0] <= index
    ;(isCode ? inside : outside).push(index)
  }
  const places = placesAt(text, outside, false)
  if (places.some(({ ends }) => [...ends.keys()].some(hasBacktick))) places.push(...placesAt(text, inside, true))
  return { text, places: places.sort((a, b) => a.at - b.at) }
}

const hasBacktick = (text: string) => text.includes('`')

function placesAt(text: string, indexes: readonly number[], isCode: boolean): NamePlace[] {
  const places: NamePlace[] = []
  let left = MAX_CANDIDATES
  for (const at of indexes) {
    const ends = namesAt(text, at + 1, left > 0 ? undefined : 1)
    left -= ends.size
    if (left < -MAX_WORDS) break
    if (ends.size > 0) places.push({ at, ends, isCode })
  }
  return places
}

/** The keys of the names that begin at an index and end at the end of a word, longest first: all, or the `most` shortest. */
function namesAt(text: string, start: number, most = Number.POSITIVE_INFINITY): Map<string, number> {
  const window = text.slice(start, start + MAX_WRITTEN_LENGTH)
  const stop = STOP.exec(window)
  const written = stop ? window.slice(0, stop.index) : window
  const ends = new Map<string, number>()
  // None ends within a character of two units: half of it is no text for PostgreSQL.
  for (let end = 1; end <= written.length && ends.size < most; end++) {
    if (/[\s\uD800-\uDBFF]/.test(written[end - 1]!) || goesOn(text, start + end)) continue
    const key = uniqueKey(written.slice(0, end))
    if (key !== '' && !ends.has(key)) ends.set(key, start + end)
  }
  return new Map([...ends].reverse())
}

function goesOn(text: string, index: number): boolean {
  CONTINUATION.lastIndex = index
  return CONTINUATION.test(text)
}

/** The users that a text mentions. */
export interface Named {
  /** In the order of the text, each once. */
  user_ids: string[]
  all: boolean
}

/**
 * Decides which users the names of a text mean: behind each `@` outside of code the longest one that is a user's.
 *
 * @param idOf the users with these keys
 * @param author the author, who is not mentioned
 */
export function chooseNamed({ text, places }: WrittenNames, idOf: ReadonlyMap<string, string>, author?: string): Named {
  const user_ids = new Set<string>()
  let all = false
  const chosen = places.flatMap(({ at, ends, isCode }) => {
    const key = [...ends.keys()].find((name) => name === ALL || idOf.has(name))
    return key === undefined ? [] : { at, end: ends.get(key)!, key, isCode }
  })
  for (const { key } of outsideCode(text, chosen)) {
    if (key === ALL) all = true
    else if (idOf.get(key) !== author && user_ids.size < MAX_PERSONS) user_ids.add(idOf.get(key)!)
  }
  return { user_ids: [...user_ids], all }
}

/** The names outside of code. Backticks in names do not count. */
function outsideCode<Name extends { at: number; end: number; isCode: boolean }>(text: string, names: Name[]): Name[] {
  if (!names.some(({ at, end }) => hasBacktick(text.slice(at, end)))) return names.filter(({ isCode }) => !isCode)
  let masked = ''
  let from = 0
  for (const { at, end } of names) {
    if (at < from) continue
    masked += text.slice(from, at) + text.slice(at, end).replaceAll('`', '_')
    from = end
  }
  const code = findCode(masked + text.slice(from))
  let next = 0
  return names.filter(({ at }) => {
    while (next < code.length && code[next]![1] <= at) next++
    return next === code.length || code[next]![0] > at
  })
}
