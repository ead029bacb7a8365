import { ChatError } from '../../core/errors.ts'
import { type Atom, atomsOf } from './rules-words.ts'

/** Words that stand next to each other in this order; with `isPrefix` the last one is only the beginning of a word. */
export interface Phrase {
  atoms: readonly Atom[]
  isPrefix: boolean
}

/** What a message is narrowed by; each value of each key must hold. */
export const NARROWING = ['in', 'from', 'thread', 'before', 'after', 'has'] as const
export type Narrowing = Record<(typeof NARROWING)[number], string[]>

/** A query taken apart. */
export interface Query {
  all: Phrase[]
  none: Phrase[]
  narrowing: Narrowing
}

/** The number of words, phrases and exclusions of a query. */
const MAX_TERMS = 20

/** The characters before a star. */
const MIN_PREFIX = 3

/** A term, maybe excluded: a text in quotes, of which the last ones may be missing, or anything without spaces. */
const TERM = /(?<minus>-?)(?:"(?<quoted>[^"]*)"?|(?<plain>[^\s"]+))/gu
const KEYED = /^(?<key>[A-Za-z]+):(?<value>.+)$/u

/** Takes a query apart. @throws ChatError `validation_failed` with the path `q` */
export function parseQuery(q: string): Query {
  const narrowing: Narrowing = { in: [], from: [], thread: [], before: [], after: [], has: [] }
  const query: Query = { all: [], none: [], narrowing }
  for (const { groups } of q.matchAll(TERM)) {
    const { minus, quoted, plain } = groups as { minus: string; quoted?: string; plain?: string }
    const { key = '', value = '' } = KEYED.exec(plain ?? '')?.groups ?? {}
    if (!minus && isNarrowing(key.toLowerCase())) narrowing[key.toLowerCase() as keyof Narrowing].push(value)
    else {
      const phrases = (quoted === undefined ? plain!.split(key ? ':' : '\n') : [quoted]).map((text) =>
        phraseOf(text, quoted === undefined),
      )
      query[minus ? 'none' : 'all'].push(...phrases.filter(({ atoms }) => atoms.length > 0))
    }
  }
  if (query.all.length + query.none.length > MAX_TERMS)
    throw invalid(`must have at most ${MAX_TERMS} words and phrases`)
  return query
}

const isNarrowing = (key: string): key is keyof Narrowing => (NARROWING as readonly string[]).includes(key)

function phraseOf(text: string, mayEnd: boolean): Phrase {
  const atoms = atomsOf(text)
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
