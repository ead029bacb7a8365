/** A part of a text: from an index up to another one, which is not included. */
type Range = [start: number, end: number]

/** Backticks with others behind them in the line are a span. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/

/** The parts of a text that are code, by CommonMark: fenced blocks, and spans between equal runs of backticks. */
export function findCode(text: string): Range[] {
  if (!text.includes('`') && !text.includes('~~~')) return []
  const code: Range[] = []
  let fence: { mark: string; start: number } | undefined
  let paragraph = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end + 1
    const line = text.slice(at, next).trimEnd()
    const [, mark] = FENCE.exec(line) ?? []
    if (fence) {
      if (mark && mark[0] === fence.mark[0] && mark.length >= fence.mark.length && line.trimStart() === mark) {
        code.push([fence.start, next])
        fence = undefined
        paragraph = next
      }
    } else if (mark || line === '') {
      code.push(...findSpans(text, paragraph, at))
      paragraph = next
      if (mark) fence = { mark, start: at }
    }
    at = next
  }
  code.push(...(fence ? [[fence.start, text.length] as Range] : findSpans(text, paragraph, text.length)))
  return code
}

/** The spans of a paragraph: from a run of backticks to the next one of the same length. */
function findSpans(text: string, start: number, end: number): Range[] {
  const runs = [...text.slice(start, end).matchAll(/`+/g)].map(({ 0: run, index }) => {
    return { at: start + index, length: run.length, partner: -1 }
  })
  // From the end, so that the search takes one pass, whatever the text.
  const latest = new Map<number, number>()
  for (const [index, run] of [...runs.entries()].reverse()) {
    run.partner = latest.get(run.length) ?? -1
    latest.set(run.length, index)
  }
  const spans: Range[] = []
  for (let index = 0; index < runs.length; index++) {
    const { at, length, partner } = runs[index]!
    if (partner < 0) continue
    spans.push([at, runs[partner]!.at + length])
    index = partner
  }
  return spans
}
