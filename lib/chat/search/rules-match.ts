import { scopeWord } from './rules.ts'
import type { Terms } from './rules-lookup.ts'
import type { IndexTerm } from './rules-query.ts'

/** The MATCH expression of FTS5 for the terms of a search. */
export function toMatchExpression({ all, groups }: Terms): string {
  const anyOf = (words: readonly string[]) => `(${words.map((word) => `"${word}"`).join(' OR ')})`
  return [...all.map(phraseOf), ...groups.map(anyOf)].join(' AND ')
}

/** FTS5 knows the order of words, except behind the beginning of a long text. */
function phraseOf({ words, isPrefix }: IndexTerm): string {
  const star = isPrefix ? ' *' : ''
  const phrase = `"${words.join(' ')}"${star}`
  if (words.length === 1) return phrase
  return `(${phrase} OR ("${[scopeWord.long, ...words].join('" AND "')}"${star}))`
}
