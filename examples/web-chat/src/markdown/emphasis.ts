/** A mark that emphasis begins or ends with. */
export type Mark = 'em' | 'strong' | 'del'

/** Some of the same letters in a row, which may begin or end emphasis. */
export interface Run {
  letter: string
  at: number
  /** How many it had at first. */
  length: number
  /** How many are text. */
  rest: number
  canOpen: boolean
  canClose: boolean
  /** What it ends, from the inside out. */
  closes: Mark[]
  /** What it begins, from the inside out. */
  opens: Mark[]
  before: Run | undefined
  after: Run | undefined
}

const SPACE = /^\s$/
const PUNCTUATION = /^[\p{P}\p{S}]$/u

/** The run at this place. */
export function runAt(text: string, at: number): Run {
  const letter = text[at]!
  let end = at
  while (text[end] === letter) end++
  const before = letterBefore(text, at)
  const after = end < text.length ? String.fromCodePoint(text.codePointAt(end)!) : ' '
  const isBeforeMark = PUNCTUATION.test(before)
  const isAfterMark = PUNCTUATION.test(after)
  const isLeft = !SPACE.test(after) && (!isAfterMark || SPACE.test(before) || isBeforeMark)
  const isRight = !SPACE.test(before) && (!isBeforeMark || SPACE.test(after) || isAfterMark)
  const isWord = letter === '_'
  const length = end - at
  const isMark = letter !== '~' || length <= 2
  return {
    letter,
    at,
    length,
    rest: length,
    canOpen: isMark && isLeft && (!isWord || !isRight || isBeforeMark),
    canClose: isMark && isRight && (!isWord || !isLeft || isAfterMark),
    closes: [],
    opens: [],
    before: undefined,
    after: undefined,
  }
}

function letterBefore(text: string, at: number): string {
  if (at === 0) return ' '
  const unit = text.charCodeAt(at - 1)
  const isSecond = unit >= 0xdc00 && unit <= 0xdfff && at > 1
  return String.fromCodePoint(text.codePointAt(isSecond ? at - 2 : at - 1)!)
}

/**
 * Finds which runs belong together, by the rules of CommonMark, in those behind the run `bottom`. What was searched in vain
 * for a kind of run is not searched again.
 *
 * @param top the last run
 */
export function matchRuns(top: Run | undefined, bottom: Run | undefined): void {
  /** Up to where no opener was found, by kinds of runs. */
  const searched = new Map<string, number>()
  let closer = bottom ? bottom.after : firstOf(top)
  while (closer) {
    const next: Run | undefined = closer.after
    if (!closer.canClose) {
      closer = next
      continue
    }
    const kind = `${closer.letter}${closer.canOpen}${closer.letter === '~' ? closer.length : closer.length % 3}`
    const opener = findOpener(closer, searched.get(kind) ?? bottom?.at ?? -1)
    if (!opener) {
      searched.set(kind, closer.at - 1)
      if (!closer.canOpen) unlink(closer)
      closer = next
      continue
    }
    while (closer.before !== opener) unlink(closer.before!)
    pair(opener, closer)
    if (opener.rest === 0) unlink(opener)
    if (closer.rest === 0) {
      unlink(closer)
      closer = next
    }
  }
}

function firstOf(top: Run | undefined): Run | undefined {
  let run = top
  while (run?.before) run = run.before
  return run
}

/** @param after the place behind which it has to be */
function findOpener(closer: Run, after: number): Run | undefined {
  for (let run = closer.before; run && run.at > after; run = run.before)
    if (run.canOpen && run.letter === closer.letter && fits(run, closer)) return run
  return undefined
}

function fits(opener: Run, closer: Run): boolean {
  if (closer.letter === '~') return opener.length === closer.length
  const isAmbiguous = closer.canOpen || opener.canClose
  return !isAmbiguous || closer.length % 3 === 0 || (opener.length + closer.length) % 3 !== 0
}

function pair(opener: Run, closer: Run): void {
  const count = opener.letter === '~' ? opener.length : opener.rest >= 2 && closer.rest >= 2 ? 2 : 1
  const mark = opener.letter === '~' ? 'del' : count === 2 ? 'strong' : 'em'
  opener.opens.push(mark)
  closer.closes.push(mark)
  opener.rest -= count
  closer.rest -= count
}

function unlink(run: Run): void {
  if (run.before) run.before.after = run.after
  if (run.after) run.after.before = run.before
}
