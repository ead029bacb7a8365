import { ChatError } from '../../core/errors.ts'
import { type Atom, splitAtoms } from '../../core/words.ts'

/** Words that stand next to each other in this order; with `isPrefix` the last one is only the beginning of a word. */
export interface Phrase {
  atoms: readonly Atom[]
  isPrefix: boolean
}

/** What a message is narrowed by; each value of each key must hold. */
export const FILTERS = ['in', 'from', 'thread', 'before', 'after', 'on', 'has'] as const
export type Narrowing = Record<(typeof FILTERS)[number], string[]>

/** A query taken apart. */
export interface Query {
  all: Phrase[]
  none: Phrase[]
  filters: Narrowing
  /** The keys of a `key:value` that narrows nothing, each once, in lower case. */
  unknown_filters: string[]
}

/** The number of words, phrases and exclusions that are searched for; further ones are ignored, so a pasted text works. */
const MAX_TERMS = 20

/** The characters before a star. */
const MIN_PREFIX = 3

/** A term, maybe excluded: a text in quotes, of which the last ones may be missing, maybe behind a key; or anything without spaces. */
const TERM = /(?<minus>-?)(?:(?:(?<key>[A-Za-z]+):)?"(?<quoted>[^"]*)"?|(?<plain>[^\s"]+))/gu
const KEYED = /^(?<key>[A-Za-z]+):(?<value>.+)$/u

/** Takes a query apart. @throws ChatError `validation_failed` with the path `q` */
export function parseQuery(q: string): Query {
  const filters: Narrowing = { in: [], from: [], thread: [], before: [], after: [], on: [], has: [] }
  const query: Query = { all: [], none: [], filters, unknown_filters: [] }
  const unknown = new Set<string>()
  for (const { groups } of q.matchAll(TERM)) {
    const { minus, quoted, plain, key, value } = readTerm(groups as Record<string, string | undefined>)
    const filter = key.toLowerCase()
    if (!minus && value !== '' && isNarrowing(filter)) {
      filters[filter].push(value)
      continue
    }
    // Not of the address of a page, nor of what is excluded.
    if (!minus && value !== '' && !value.startsWith('//')) unknown.add(filter)
    const room = MAX_TERMS - query.all.length - query.none.length
    if (room === 0) continue
    const texts = quoted === undefined ? plain.split(key ? ':' : '\n') : [key, quoted]
    const phrases = texts.map((text, n) => phraseOf(text, quoted === undefined || n === 0))
    query[minus ? 'none' : 'all'].push(...phrases.filter(({ atoms }) => atoms.length > 0).slice(0, room))
  }
  query.unknown_filters = [...unknown]
  return query
}

/** A term with its key and value; both are empty if it is no `key:value`. */
function readTerm({ minus, quoted, plain = '', key }: Record<string, string | undefined>) {
  const keyed = quoted === undefined ? KEYED.exec(plain)?.groups : key && { key, value: quoted }
  return { minus: minus === '-', quoted, plain, ...(keyed ? (keyed as { key: string; value: string }) : NO_KEY) }
}

const NO_KEY = { key: '', value: '' }

const isNarrowing = (key: string): key is keyof Narrowing => (FILTERS as readonly string[]).includes(key)

function phraseOf(text: string, mayEnd: boolean): Phrase {
  const atoms = splitAtoms(text)
  const last = atoms.at(-1)
  // A character of a dense script begins a word anyway.
  const isPrefix = mayEnd && text.endsWith('*') && last !== undefined && last.end === text.length - 1 && !last.isDense
  if (isPrefix && [...last.text].length < MIN_PREFIX)
    throw invalid(`must have at least ${MIN_PREFIX} characters before *`)
  return { atoms, isPrefix }
}

export function invalid(message: string, path = 'q'): ChatError {
  return new ChatError('validation_failed', { errors: [{ path, message }] })
}

/** Words of the index that follow each other in a hit; with `isPrefix` the last one is only the beginning of a word. */
export interface IndexTerm {
  words: readonly string[]
  isPrefix: boolean
}

/**
 * The words by which the index finds what may have a phrase. A character of a dense script is in the order of the index
 * where its run ends, which is unknown at the end of a phrase, and before another one that may follow without a space.
 */
export function indexTerms({ atoms, isPrefix }: Phrase): IndexTerm[] {
  const terms: IndexTerm[] = []
  let words: string[] = []
  const end = (mayEnd: boolean) => {
    if (words.length > 0) terms.push({ words, isPrefix: mayEnd })
    words = []
  }
  for (const [n, { text, isDense, isJoined }] of atoms.entries()) {
    const [before, next] = [atoms[n - 1], atoms[n + 1]]
    if (!isDense || (next && !next.isDense)) words.push(text)
    else if (next?.isJoined) words.push(text + next.text)
    else {
      end(false)
      if (!before?.isDense || !isJoined) terms.push({ words: [text], isPrefix: false })
    }
  }
  end(isPrefix)
  return terms
}
