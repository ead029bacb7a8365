/** A word of a line. */
export interface Word {
  /** The option that it is given to by `name:`. */
  name?: string
  /** Without its name and quotes. */
  value: string
  /** As it stands in the line. */
  raw: string
  /** The space before it. */
  space: string
  isQuoted: boolean
  /** Whether its quote has no end. */
  isOpen: boolean
}

/** Quotes by their beginning; what phones make of the straight ones, too. */
const QUOTES: Record<string, string> = { '"': '"', "'": "'", '“': '”', '„': '“', '‘': '’', '«': '»' }

/**
 * Splits a line at spaces, but for those in quotes. A quote stands at the beginning of a word, or behind `name:`, and ends
 * before a space: an apostrophe is none. In quotes, a backslash takes the meaning from a quote or backslash behind it.
 *
 * @param names those that `name:value` gives a value to; others are text, such as the `https` of an address
 */
export function splitWords(line: string, names: readonly string[]): Word[] {
  const words: Word[] = []
  // Marks without an end: the rest of the line is looked through once for each.
  const open = new Set<string>()
  const start = /(\s*)(?=\S)/y
  const label = /([a-z0-9_-]{1,32}):(?=\S)/iy
  const plain = /\S+/y
  for (let match = start.exec(line); match; match = start.exec(line)) {
    const from = start.lastIndex
    label.lastIndex = from
    const labelled = label.exec(line)?.[1]?.toLowerCase()
    const name = names.find((each) => each === labelled)
    const begin = name === undefined ? from : label.lastIndex
    const mark = line[begin]!
    const quoted = open.has(mark) ? undefined : readQuoted(line, begin)
    if (!quoted) open.add(mark)
    plain.lastIndex = begin
    const end = quoted?.end ?? begin + plain.exec(line)![0].length
    words.push({
      ...(name !== undefined && { name }),
      value: quoted?.value ?? line.slice(begin, end),
      raw: line.slice(from, end),
      space: match[1]!,
      isQuoted: quoted !== undefined,
      isOpen: !quoted && mark === '"',
    })
    start.lastIndex = end
  }
  return words
}

/** The text in quotes that begins there, and where it ends; `undefined` without a quote, or if it has no end. */
function readQuoted(line: string, begin: number): { value: string; end: number } | undefined {
  const close = QUOTES[line[begin]!]
  if (close === undefined) return undefined
  let value = ''
  for (let at = begin + 1; at < line.length; at++) {
    const sign = line[at]!
    if (sign === '\\' && (line[at + 1] === close || line[at + 1] === '\\')) value += line[++at]!
    else if (sign === close && isSpace(line[at + 1])) return { value, end: at + 1 }
    else value += sign
  }
  return undefined
}

const isSpace = (sign: string | undefined) => sign === undefined || /\s/.test(sign)
