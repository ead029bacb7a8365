/** A part of a text: from an index up to another one, which is not included. */
type Range = [start: number, end: number]

/** Backticks with others behind them in the line are a span. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

/** A quoted line. */
const QUOTE = / {0,3}>/y

/**
 * The parts of a text that mention no user: quoted lines, and code by CommonMark, which is fenced blocks and spans between
 * equal runs of backticks.
 */
export function findExcluded(text: string): Range[] {
  if (!text.includes('`') && !text.includes('~~~') && !text.includes('>')) return []
  const excluded: Range[] = []
  let fence: { mark: string; start: number } | undefined
  let paragraph = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end + 1
    // Any other line changes nothing: most are not taken apart.
    const line = isBlankOrFence(text, at) ? text.slice(at, next).trimEnd() : undefined
    const [, mark] = line ? (FENCE.exec(line) ?? []) : []
    if (fence) {
      if (mark && mark[0] === fence.mark[0] && mark.length >= fence.mark.length && line!.trimStart() === mark) {
        excluded.push([fence.start, next])
        fence = undefined
        paragraph = next
      }
    } else if (mark || line === '' || isQuote(text, at)) {
      if (paragraph < at) addSpans(excluded, text, paragraph, at)
      paragraph = next
      if (mark) fence = { mark, start: at }
      else if (line !== '') excluded.push([at, next])
    }
    at = next
  }
  if (fence) excluded.push([fence.start, text.length])
  else addSpans(excluded, text, paragraph, text.length)
  return excluded
}

function isQuote(text: string, index: number): boolean {
  QUOTE.lastIndex = index
  return QUOTE.test(text)
}

/** Whether the line that begins at an index may be blank or a fence. */
function isBlankOrFence(text: string, index: number): boolean {
  const first = text.charCodeAt(index)
  if (first === BACKTICK || first === TILDE)
    return text.charCodeAt(index + 1) === first && text.charCodeAt(index + 2) === first
  return first <= SPACE || first >= NO_BREAK_SPACE
}

const BACKTICK = 0x60
const TILDE = 0x7e
const SPACE = 0x20
const NO_BREAK_SPACE = 0xa0

/** Adds the spans of a paragraph: from a run of backticks to the next one of the same length. */
function addSpans(excluded: Range[], text: string, start: number, end: number): void {
  const runs: Range[] = []
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) !== BACKTICK) continue
    const run = at
    while (at < end && text.charCodeAt(at) === BACKTICK) at++
    runs.push([run, at])
  }
  if (runs.length < 2) return
  // From the end, so that the search takes one pass, whatever the text.
  const partners: number[] = []
  const latest = new Map<number, number>()
  for (let n = runs.length - 1; n >= 0; n--) {
    const length = runs[n]![1] - runs[n]![0]
    partners[n] = latest.get(length) ?? -1
    latest.set(length, n)
  }
  for (let n = 0; n < runs.length; n++) {
    const partner = partners[n]!
    if (partner < 0) continue
    excluded.push([runs[n]![0], runs[partner]![1]])
    n = partner
  }
}
