/** A word, a text literal, or another character of a statement; `skipped` are spaces, comments and quoted names. */
export interface Token {
  kind: 'word' | 'literal' | 'mark' | 'skipped'
  text: string
}

/** In this order: a comment or a literal may contain anything. The stores write no other kinds of literals. */
const TOKEN =
  /(?<skipped>\s+|--[^\n]*|\/\*[\s\S]*?\*\/|"[^"]*")|(?<literal>'(?:[^']|'')*')|(?<word>[a-z_]\w*)|[\s\S]/giu

/** The tokens of an SQL statement; their texts joined are the statement. */
export function splitTokens(sql: string): Token[] {
  return [...sql.matchAll(TOKEN)].map(({ 0: text, groups }) => ({ kind: kindOf(groups!), text }))
}

function kindOf({ skipped, literal, word }: Record<string, string | undefined>): Token['kind'] {
  if (skipped !== undefined) return 'skipped'
  if (literal !== undefined) return 'literal'
  return word === undefined ? 'mark' : 'word'
}
