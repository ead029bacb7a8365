import { type Autolink, autolinksIn } from './autolinks.ts'
import { type Budget, spend } from './budget.ts'
import { matchRuns, type Run, runAt } from './emphasis.ts'
import { entityAt } from './entities.ts'
import { CLOSE_TAG, OPEN_TAG } from './html-blocks.ts'
import { destinationAt, isEscapable, labelAt, matchAt, skipSpace, titleAt, toLabel } from './link-parts.ts'
import { type MentionedNames, mentionsWithMarks } from './split-mentions.ts'
import { toTree } from './to-tree.ts'
import type { Inline, Reference, References } from './tokens.ts'

/** What a line consists of, before it is known which marks belong together. */
export type Piece = Inline | { run: Run } | { opens: Reference & { type: 'link' | 'image' } } | { closes: true }

/** A `[` that a link may begin with. */
interface Bracket {
  /** Which of the pieces it is. */
  index: number
  /** Behind it. */
  at: number
  isImage: boolean
  /** No link is in a link. */
  isActive: boolean
  /** Whether another one is behind it. */
  hasInner: boolean
  /** The last run before it. */
  run: Run | undefined
}

/** How far the lines are read. */
interface State {
  readonly text: string
  readonly references: References
  readonly pieces: Piece[]
  readonly brackets: Bracket[]
  readonly autolinks: Autolink[]
  /** The mentions that are text as a whole, the first one last. */
  readonly mentions: { start: number; end: number }[]
  /** Where code may end, by the number of its backticks. */
  readonly ticks: Map<number, number[]>
  /** What ends no more HTML in the rest of the text. */
  readonly missing: Set<string>
  readonly budget: Budget
  at: number
  /** Up to where there is nothing but text, as far as was looked. */
  textEnd: number
  lastRun: Run | undefined
}

const TEXT = /[^\n\\`[\]!<&*_~]+/y
const AUTOLINK = /<([a-z][a-z\d+.-]{1,31}:[^<>\s\p{Cc}]*)>/iuy
const MAIL_AUTOLINK =
  /<([\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*)>/iy
const TAG = new RegExp(`${OPEN_TAG}|${CLOSE_TAG}`, 'iy')
/** Other HTML: how it begins, and what ends it. */
const HTML: [start: RegExp, end: string][] = [
  [/<!--/y, '-->'],
  [/<\?/y, '?>'],
  [/<!\[CDATA\[/y, ']]>'],
  [/<![a-z]/iy, '>'],
]

/** The parts of the lines of a block, by the rules of CommonMark, in a time that grows as they do. @throws OverBudget */
export function parseInlines(
  text: string,
  references: References,
  budget: Budget,
  names: MentionedNames = new Map(),
): Inline[] {
  const mentions = mentionsWithMarks(text, names)
  const state: State = {
    text,
    references,
    pieces: [],
    brackets: [],
    autolinks: autolinksIn(text).reverse(),
    ticks: ticksOf(masked(text, mentions)),
    mentions: mentions.reverse(),
    missing: new Set(),
    budget,
    at: 0,
    textEnd: 0,
    lastRun: undefined,
  }
  while (state.at < text.length) readPiece(state)
  matchRuns(state.lastRun, undefined)
  return toTree(state.pieces, budget)
}

function readPiece(state: State): void {
  const { text, at } = state
  if (readAutolink(state) || readMention(state)) return
  switch (text[at]) {
    case '\n':
      readBreak(state)
      break
    case '\\':
      readEscape(state)
      break
    case '`':
      readCode(state)
      break
    case '*':
    case '_':
    case '~':
      readRun(state)
      break
    case '[':
      openBracket(state, false)
      break
    case '!':
      if (text[at + 1] === '[') openBracket(state, true)
      else take(state, '!', at + 1)
      break
    case ']':
      closeBracket(state)
      break
    case '<':
      readAngle(state)
      break
    case '&': {
      const entity = entityAt(text, at)
      take(state, entity?.value ?? '&', entity?.end ?? at + 1)
      break
    }
    default: {
      if (state.textEnd <= at) state.textEnd = at + matchAt(TEXT, text, at)![0].length
      const next = [state.autolinks.at(-1)?.start, state.mentions.at(-1)?.start].filter((start) => start !== undefined)
      const end = Math.min(state.textEnd, ...next)
      take(state, text.slice(at, end), end)
    }
  }
}

function take(state: State, piece: Piece, end: number): void {
  spend(state.budget, 1)
  state.pieces.push(piece)
  state.at = end
}

function readAutolink(state: State): boolean {
  const { autolinks, at, text } = state
  while (autolinks.length > 0 && autolinks.at(-1)!.start < at) autolinks.pop()
  const link = autolinks.at(-1)
  if (link?.start !== at) return false
  autolinks.pop()
  const shown = text.slice(at, link.end)
  // In brackets, it ends where they may.
  const end = state.brackets.length > 0 && shown.includes(']') ? at + shown.indexOf(']') : link.end
  const href = link.href.slice(0, link.href.length - (link.end - end))
  take(state, linkTo(href, text.slice(at, end)), end)
  return true
}

function readMention(state: State): boolean {
  const { mentions, at, text } = state
  while (mentions.length > 0 && mentions.at(-1)!.start < at) mentions.pop()
  const mention = mentions.at(-1)
  if (mention?.start !== at) return false
  mentions.pop()
  take(state, text.slice(at, mention.end), mention.end)
  return true
}

/** The text without the backticks of mentions. */
function masked(text: string, mentions: State['mentions']): string {
  let before = ''
  let at = 0
  for (const { start, end } of mentions) {
    before += text.slice(at, start) + text.slice(start, end).replaceAll('`', '_')
    at = end
  }
  return before + text.slice(at)
}

function linkTo(href: string, text: string): Inline {
  return { type: 'link', href, title: undefined, inlines: [text] }
}

function readBreak(state: State): void {
  const { pieces, at } = state
  const last = pieces.at(-1)
  const before = typeof last === 'string' ? last : ''
  let end = before.length
  while (before[end - 1] === ' ') end--
  if (end < before.length) pieces[pieces.length - 1] = before.slice(0, end)
  takeBreak(state, at + 1, before.length - end >= 2)
}

/** @param from behind the end of the line */
function takeBreak(state: State, from: number, isHard: boolean): void {
  let end = from
  while (state.text[end] === ' ' || state.text[end] === '\t') end++
  take(state, { type: 'break', isHard }, end)
}

function readEscape(state: State): void {
  const { text, at } = state
  const next = text[at + 1]
  if (next === '\n') takeBreak(state, at + 2, true)
  else if (isEscapable(next)) take(state, next!, at + 2)
  else take(state, '\\', at + 1)
}

/** Where the runs of backticks begin, by their lengths. */
function ticksOf(text: string): Map<number, number[]> {
  const ticks = new Map<number, number[]>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const same = ticks.get(run.length)
    if (same) same.push(index)
    else ticks.set(run.length, [index])
  }
  // The next one is last: they are used up from there.
  for (const places of ticks.values()) places.reverse()
  return ticks
}

function readCode(state: State): void {
  const { text, at } = state
  let from = at
  while (text[from] === '`') from++
  const length = from - at
  const places = state.ticks.get(length) ?? []
  while (places.length > 0 && places.at(-1)! < from) places.pop()
  const close = places.at(-1)
  if (close === undefined) take(state, text.slice(at, from), from)
  else take(state, { type: 'code', text: codeOf(text.slice(from, close)) }, close + length)
}

function codeOf(text: string): string {
  const code = text.replaceAll('\n', ' ')
  const isPadded = code[0] === ' ' && code.at(-1) === ' ' && code.trim() !== ''
  return isPadded ? code.slice(1, -1) : code
}

function readRun(state: State): void {
  const run = runAt(state.text, state.at)
  run.before = state.lastRun
  if (state.lastRun) state.lastRun.after = run
  state.lastRun = run
  take(state, { run }, state.at + run.length)
}

function openBracket(state: State, isImage: boolean): void {
  const { brackets, pieces } = state
  const at = state.at + (isImage ? 2 : 1)
  const last = brackets.at(-1)
  if (last) last.hasInner = true
  brackets.push({ index: pieces.length, at, isImage, isActive: true, hasInner: false, run: state.lastRun })
  take(state, isImage ? '![' : '[', at)
}

function closeBracket(state: State): void {
  const bracket = state.brackets.pop()
  const link = bracket?.isActive ? linkBehind(state, bracket) : undefined
  if (bracket && link) takeLink(state, bracket, link)
  else take(state, ']', state.at + 1)
}

function takeLink(state: State, bracket: Bracket, link: { reference: Reference; end: number }): void {
  const type = bracket.isImage ? 'image' : 'link'
  matchRuns(state.lastRun, bracket.run)
  state.lastRun = bracket.run
  if (state.lastRun) state.lastRun.after = undefined
  state.pieces[bracket.index] = { opens: { type, ...link.reference } }
  take(state, { closes: true }, link.end)
  if (bracket.isImage) return
  // No link is in a link. Those before an inactive one are inactive already.
  for (let index = state.brackets.length - 1; index >= 0; index--) {
    const outer = state.brackets[index]!
    if (outer.isImage) continue
    if (!outer.isActive) break
    outer.isActive = false
  }
}

/** Where the link leads whose `]` is read next. */
function linkBehind(state: State, bracket: Bracket): { reference: Reference; end: number } | undefined {
  const { text, at, references } = state
  const inline = text[at + 1] === '(' ? inlineTarget(text, at + 2) : undefined
  if (inline) return inline
  const label = labelAt(text, at + 1)
  const isFull = label && label.value !== ''
  if (!isFull && bracket.hasInner) return undefined
  const name = toLabel(isFull ? label.value : text.slice(bracket.at, at))
  const reference = name === undefined ? undefined : references.get(name)
  return reference && { reference, end: label?.end ?? at + 1 }
}

/** `(address "title")`, without what it begins with. */
function inlineTarget(text: string, from: number): { reference: Reference; end: number } | undefined {
  const address = destinationAt(text, skipSpace(text, from))
  if (!address) return undefined
  const titleFrom = skipSpace(text, address.end)
  const title = titleFrom > address.end ? titleAt(text, titleFrom) : undefined
  const end = skipSpace(text, title?.end ?? address.end)
  return text[end] === ')' ? { reference: { href: address.value, title: title?.value }, end: end + 1 } : undefined
}

function readAngle(state: State): void {
  const { text, at } = state
  const url = matchAt(AUTOLINK, text, at)
  const mail = url ? undefined : matchAt(MAIL_AUTOLINK, text, at)
  if (url) take(state, linkTo(url[1]!, url[1]!), at + url[0].length)
  else if (mail) take(state, linkTo(`mailto:${mail[1]}`, mail[1]!), at + mail[0].length)
  else {
    const end = htmlEnd(state)
    take(state, end === undefined ? '<' : { type: 'html', text: text.slice(at, end) }, end ?? at + 1)
  }
}

/** Where the HTML ends that begins here; `undefined` if it is none. */
function htmlEnd({ text, at, missing }: State): number | undefined {
  const tag = matchAt(TAG, text, at)
  if (tag) return at + tag[0].length
  // The shortest comments have no end of their own.
  for (const short of ['<!-->', '<!--->']) if (text.startsWith(short, at)) return at + short.length
  const kind = HTML.find(([start]) => matchAt(start, text, at))
  if (!kind || missing.has(kind[1])) return undefined
  const end = text.indexOf(kind[1], at + 2)
  if (end < 0) missing.add(kind[1])
  return end < 0 ? undefined : end + kind[1].length
}
