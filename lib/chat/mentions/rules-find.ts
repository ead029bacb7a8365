import { uniqueKey } from '../../core/characters.ts'
import { LONGEST } from '../../core/lengths.ts'
import { findCode } from './rules-code.ts'
import { MOST_PERSONS } from './schema.ts'

/** The key of the name that means all participants. */
export const ALL = 'all'

/**
 * How many candidates of one text are looked at: its cost is bounded, however many `@` it has. After them only the first
 * word behind each `@` is one, for so many more.
 */
const MOST_CANDIDATES = 2_000
const MOST_WORDS = 2_000

/** A username in the text may be decomposed: with a mark behind each letter it is twice as long. */
const LONGEST_WRITTEN = 2 * LONGEST.username

/** Not inside of a word, an address or a path. */
const BEGINNING = /(?<![\p{L}\p{N}\p{M}@./_-])@(?=\S)/gu

/** A word goes on here: with a letter, a digit or `_`, or with some `-`, `.` or `@` inside of it. */
const CONTINUATION = /[\p{L}\p{N}\p{M}_]|[-.@]{1,64}[\p{L}\p{N}_]/uy

/** A line break or another control character ends a name, and so does the next mention. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no username has one.
const STOP = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]|(?<![\p{L}\p{N}\p{M}@./_-])@/u

/**
 * The names that a text may mention: for each `@` outside of code, the keys of the names that may stand behind it,
 * longest first. A name ends at the end of a word.
 */
export function findNames(text: string): string[][] {
  if (!text.includes('@')) return []
  const code = findCode(text)
  const places: string[][] = []
  let left = MOST_CANDIDATES
  let next = 0
  for (const { index } of text.matchAll(BEGINNING)) {
    while (next < code.length && code[next]![1] <= index) next++
    if (next < code.length && code[next]![0] <= index) continue
    const keys = namesAt(text, index + 1, left > 0 ? undefined : 1)
    left -= keys.length
    if (left < -MOST_WORDS) break
    if (keys.length > 0) places.push(keys)
  }
  return places
}

/** The keys of the names that begin at an index and end at the end of a word, longest first: all, or the `most` shortest. */
function namesAt(text: string, start: number, most = Number.POSITIVE_INFINITY): string[] {
  const window = text.slice(start, start + LONGEST_WRITTEN)
  const stop = STOP.exec(window)
  const written = stop ? window.slice(0, stop.index) : window
  const keys = new Set<string>()
  for (let end = 1; end <= written.length && keys.size < most; end++) {
    if (/\s/.test(written[end - 1]!) || goesOn(text, start + end)) continue
    const key = uniqueKey(written.slice(0, end))
    if (key !== '') keys.add(key)
  }
  return [...keys].reverse()
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
 * Decides which users the names of a text mean: behind each `@` the longest one that is a user's.
 *
 * @param idOf the users with these keys
 * @param author who counts for nothing
 */
export function chooseNamed(places: string[][], idOf: ReadonlyMap<string, string>, author?: string): Named {
  const user_ids = new Set<string>()
  let all = false
  for (const keys of places) {
    const key = keys.find((each) => each === ALL || idOf.has(each))
    if (key === ALL) all = true
    else if (key !== undefined && idOf.get(key) !== author && user_ids.size < MOST_PERSONS) user_ids.add(idOf.get(key)!)
  }
  return { user_ids: [...user_ids], all }
}
