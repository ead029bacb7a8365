import { uniqueKey } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { beginningAt, continuesAt, isDenseAt } from './rules-edges.ts'
import { findExcluded } from './rules-excluded.ts'
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

/** A line break or another control character ends a name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no username has one.
const STOP = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]/

/** An `@` of a text, and the keys of the names that may stand behind it, longest first: where each of them ends. */
export interface NamePlace {
  at: number
  ends: ReadonlyMap<string, number>
  /** Whether it is in code or in a quoted line, unless names with backticks change that. */
  isExcluded: boolean
}

/** The names that a text may mention. */
export interface WrittenNames {
  text: string
  places: NamePlace[]
}

/**
 * The names that a text may mention: behind each `@` outside of code and quoted lines. A name ends at the end of a word. If
 * names outside of code may have backticks, those in code are listed, too: a backtick in the name of a participant begins or
 * ends no code.
 */
export function findNames(text: string): WrittenNames {
  const excluded = text.includes('@') ? findExcluded(text) : []
  const outside: number[] = []
  const inside: number[] = []
  let next = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (!beginningAt(text, at)) continue
    while (next < excluded.length && excluded[next]![1] <= at) next++
    const isExcluded = next < excluded.length && excluded[next]![0] <= at
    ;(isExcluded ? inside : outside).push(at)
  }
  const places = placesAt(text, outside, false)
  if (places.some(({ ends }) => [...ends.keys()].some(hasBacktick))) places.push(...placesAt(text, inside, true))
  return { text, places: places.sort((a, b) => a.at - b.at) }
}

const hasBacktick = (text: string) => text.includes('`')

function placesAt(text: string, indexes: readonly number[], isExcluded: boolean): NamePlace[] {
  const places: NamePlace[] = []
  let left = MAX_CANDIDATES
  for (const at of indexes) {
    const ends = namesAt(text, at + 1, { isOneWord: left <= 0 })
    left -= ends.size
    if (left < -MAX_WORDS) break
    if (ends.size > 0) places.push({ at, ends, isExcluded })
  }
  return places
}

/**
 * The keys of the names that begin at an index and end at the end of a word, longest first: all, or those within the first
 * word. The next mention ends a name, too, unless its `@` may be inside of this one.
 */
function namesAt(text: string, start: number, { isOneWord }: { isOneWord: boolean }): Map<string, number> {
  const ends = new Map<string, number>()
  const limit = Math.min(text.length, start + MAX_WRITTEN_LENGTH)
  if (/\s/.test(text[start] ?? ' ')) return ends
  for (let end = start + 1; end <= limit; end++) {
    const last = text[end - 1]!
    if (STOP.test(last) || (last === '@' && beginningAt(text, end - 1) === 'word')) break
    // None ends within a character of two units: half of it is no text for PostgreSQL.
    if (/[\s\uD800-\uDBFF]/.test(last) || continuesAt(text, end)) continue
    const key = uniqueKey(text.slice(start, end))
    if (key !== '' && !ends.has(key)) ends.set(key, end)
    if (isOneWord && !isDenseAt(text, end)) break
  }
  return new Map([...ends].reverse())
}

/** The users that a text mentions. */
export interface Named {
  /** In the order of the text, each once. */
  user_ids: string[]
  all: boolean
  /** The keys of their names. */
  names: Record<string, string>
}

/**
 * Decides which users the names of a text mean: behind each `@` outside of code and quoted lines the longest one that is a
 * user's.
 *
 * @param idOf the users with these keys
 * @param author the author, who is not mentioned
 * @param earlier the users that are mentioned in any case: they count
 */
export function chooseNamed(
  written: WrittenNames,
  idOf: ReadonlyMap<string, string>,
  author?: string,
  earlier: readonly string[] = [],
): Named {
  const user_ids = new Set(earlier)
  const names: Record<string, string> = Object.create(null)
  let all = false
  for (const { key } of choosePlaces(written, idOf)) {
    const id = idOf.get(key)
    if (key === ALL) all = true
    else if (id !== undefined && id !== author && (user_ids.has(id) || user_ids.size < MAX_PERSONS)) {
      user_ids.add(id)
      names[key] = id
    }
  }
  return { user_ids: [...user_ids], all, names }
}

/** A name of a text that is a user's. */
export interface ChosenName extends Omit<NamePlace, 'ends'> {
  key: string
  end: number
}

/** Outside of code and quoted lines, the longest name at each `@` that is not inside of a name before it. */
export function choosePlaces({ text, places }: WrittenNames, idOf: ReadonlyMap<string, string>): ChosenName[] {
  const chosen: ChosenName[] = []
  for (const { at, ends, isExcluded } of places) {
    const key = [...ends.keys()].find((name) => name === ALL || idOf.has(name))
    if (key === undefined || at < (chosen.at(-1)?.end ?? 0)) continue
    chosen.push({ at, end: ends.get(key)!, key, isExcluded })
  }
  return withoutExcluded(text, chosen)
}

/** The names outside of code and quoted lines. Backticks in names do not count. */
function withoutExcluded(text: string, names: ChosenName[]): ChosenName[] {
  if (!names.some(({ at, end }) => hasBacktick(text.slice(at, end)))) return names.filter((name) => !name.isExcluded)
  let masked = ''
  let from = 0
  for (const { at, end } of names) {
    masked += text.slice(from, at) + text.slice(at, end).replaceAll('`', '_')
    from = end
  }
  const excluded = findExcluded(masked + text.slice(from))
  let next = 0
  return names.filter(({ at }) => {
    while (next < excluded.length && excluded[next]![1] <= at) next++
    return next === excluded.length || excluded[next]![0] > at
  })
}
