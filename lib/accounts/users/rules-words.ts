import { type Atom, cutWord, splitAtoms } from '../../core/words.ts'

/** How many words of the names of a user count. */
const MAX_NAME_WORDS = 40

/** How many words of a user are also found together: their number squared. */
const MAX_PAIRED = 8

/** The beginnings that are entries of their own, in characters: what is that short begins too many words. */
const MAX_BEGINNING = 3

/** The first character of an entry of two words, and of one of a disabled user: no word has them. */
const PAIR = '+'
const DISABLED = '-'

/** A word as it is compared. */
export interface Word {
  text: string
  /** Begins with a character of a script without spaces between words. */
  isDense: boolean
}

/** Where entries are in the index: at an equal text, or at those that begin with it. */
export interface Entries {
  text: string
  isWhole: boolean
}

/** The words that begin anywhere in names: at letters behind digits and the reverse, and at each dense character. */
export function nameWords(...names: (string | null)[]): Word[] {
  const words = new Map<string, Word>()
  for (const name of names)
    for (const run of runs(name ?? ''))
      for (let start = 0; start < run.length && words.size < MAX_NAME_WORDS; start++) {
        const word = toWord(run.slice(start))
        words.set(word.text, word)
      }
  return [...words.values()]
}

/** The words of a query, the longest first; one that begins another is found with it. */
export function queryWords(query: string): Word[] {
  const words = runs(query)
    .map(toWord)
    .sort((one, other) => other.text.length - one.text.length)
  return words.filter(({ text }, n) => !words.slice(0, n).some((longer) => longer.text.startsWith(text)))
}

/** Whether each of these words begins one of the names. */
export function isCalled(words: readonly Word[], ...names: (string | null)[]): boolean {
  const own = nameWords(...names)
  return words.every(({ text }) => own.some((word) => word.text.startsWith(text)))
}

/** The entries of a user in the index. */
export function indexEntries({
  username,
  display_name,
  disabled_at,
}: {
  username: string
  display_name: string | null
  disabled_at: number | null
}): string[] {
  const words = nameWords(username, display_name)
  const entries = new Set(words.flatMap(({ text, isDense }) => [text, ...beginnings(text, isDense)]))
  const paired = words.slice(0, MAX_PAIRED)
  for (const one of paired) for (const other of paired) if (one !== other) entries.add(pair(one, other))
  return [...entries].map((entry) => withState(entry, { isDisabled: disabled_at !== null }))
}

/** Where the users with a word that begins so are. */
export function entriesOf(word: Word, state = { isDisabled: false }): Entries {
  return { text: withState(word.text, state), isWhole: isBeginning(word) }
}

/** The entry of all users with a word that begins as this one; `undefined` where it is too short to be one. */
export function beginningOf({ text, isDense }: Word, state: { isDisabled: boolean }): string | undefined {
  const short = begin(text, MAX_BEGINNING)
  return isDense || [...short].length > 1 ? withState(short, state) : undefined
}

/** Whether the entry of a beginning is that of all users with a word that begins so. */
export function isBeginning({ text, isDense }: Word): boolean {
  const { length } = [...text]
  return length <= MAX_BEGINNING && (length > 1 || isDense)
}

/** Where the users with two words that begin as these are, or more; `undefined` where the first is a single character. */
export function pairEntries(
  [one, other]: readonly Word[],
  state: { isDisabled: boolean } = { isDisabled: false },
): Entries | undefined {
  if (!one || !other || [...one.text].length === 1) return undefined
  return { text: withState(pair(one, other), state), isWhole: [...other.text].length > 1 }
}

const withState = (entry: string, { isDisabled }: { isDisabled: boolean }) => (isDisabled ? DISABLED : '') + entry

const pair = (one: Word, other: Word) => `${PAIR}${begin(one.text, 2)} ${begin(other.text, 2)}`

const begin = (text: string, length: number) => [...text].slice(0, length).join('')

function beginnings(text: string, isDense: boolean): string[] {
  const longer = [2, MAX_BEGINNING].map((length) => begin(text, length))
  return isDense ? [begin(text, 1), ...longer] : longer
}

/** The parts of a text with nothing between their letters, digits and other characters. */
function runs(text: string): Atom[][] {
  const all: Atom[][] = []
  for (const atom of splitAtoms(text)) {
    if (atom.isJoined && all.length > 0) all.at(-1)!.push(atom)
    else all.push([atom])
  }
  return all
}

function toWord(run: readonly Atom[]): Word {
  return { text: cutWord(run.map(({ text }) => text).join('')), isDense: run[0]!.isDense }
}
