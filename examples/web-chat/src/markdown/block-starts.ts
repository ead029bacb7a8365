import type { BlockNode, ListMarker } from './block-node.ts'
import { htmlStart } from './html-blocks.ts'
import { CODE_INDENT, isBlank, isSpace, type Line, nextLetter, skipColumns, skipLetters, skipSpaces } from './line.ts'
import { takeDefinitions } from './references.ts'
import { tableColumns } from './table.ts'

/** Where a block may begin. */
interface Place {
  container: BlockNode
  /** Adds a block to the container, which is closed if it cannot have that. */
  add(kind: BlockNode['kind']): BlockNode
  /** Whether the line may go on with a paragraph, though that is not in the container. */
  isInParagraph: boolean
}

/** A kind of block that a line may begin. @returns its node, or `undefined` */
type Start = (line: Line, place: Place) => BlockNode | undefined

/** Deeper containers are text. */
const MAX_LEVEL = 16

/** The kinds of blocks in the order in which they are tried; a paragraph is what is none of them. */
const STARTS: Start[] = [
  startTable,
  startQuote,
  startHeading,
  startFence,
  startHtml,
  startUnderlined,
  startRule,
  startItem,
]

/** The block that begins where the line is read to. */
export function startBlock(line: Line, place: Place): BlockNode | undefined {
  if (nextLetter(line).indent >= CODE_INDENT) return startIndented(line, place)
  for (const start of STARTS) {
    const node = start(line, place)
    if (node) return node
  }
  return undefined
}

function startIndented(line: Line, { add, isInParagraph }: Place): BlockNode | undefined {
  if (isInParagraph || isBlank(line)) return undefined
  skipColumns(line, CODE_INDENT)
  return add('code')
}

function startTable(line: Line, { container, add }: Place): BlockNode | undefined {
  if (container.kind !== 'paragraph') return undefined
  const head = container.lines.at(-1)!
  const aligns = tableColumns(line.text.slice(nextLetter(line).at), head)
  if (!aligns) return undefined
  container.lines.pop()
  const table = add('table')
  table.first_line--
  table.aligns = aligns
  table.lines.push(head)
  skipLetters(line, line.text.length)
  return table
}

function startQuote(line: Line, { container, add }: Place): BlockNode | undefined {
  if (line.text[nextLetter(line).at] !== '>' || container.level >= MAX_LEVEL) return undefined
  skipQuoteMarker(line)
  return add('quote')
}

/** Behind a `>`, and a space behind it. */
export function skipQuoteMarker(line: Line): void {
  skipSpaces(line)
  skipLetters(line, 1)
  skipColumns(line, 1)
}

function startHeading(line: Line, { add }: Place): BlockNode | undefined {
  const match = /^(#{1,6})(?:[ \t]|$)/.exec(line.text.slice(nextLetter(line).at))
  if (!match) return undefined
  skipSpaces(line)
  skipLetters(line, match[1]!.length)
  const heading = add('heading')
  heading.depth = match[1]!.length
  heading.lines.push(withoutClosing(line.text.slice(line.offset)))
  skipLetters(line, line.text.length)
  return heading
}

/** The text of a heading without the `#` at its end. */
function withoutClosing(text: string): string {
  const trimmed = text.trim()
  let end = trimmed.length
  while (trimmed[end - 1] === '#') end--
  return end === 0 || isSpace(trimmed[end - 1]) ? trimmed.slice(0, end).trimEnd() : trimmed
}

function startFence(line: Line, { add }: Place): BlockNode | undefined {
  const { at, indent } = nextLetter(line)
  const match = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(line.text.slice(at))
  if (!match) return undefined
  skipSpaces(line)
  skipLetters(line, match[0].length)
  const code = add('code')
  const info = line.text.slice(line.offset).trim()
  code.fence = { letter: match[0][0]!, length: match[0].length, indent, info }
  skipLetters(line, line.text.length)
  return code
}

function startHtml(line: Line, { add, isInParagraph }: Place): BlockNode | undefined {
  const start = htmlStart(line.text.slice(nextLetter(line).at), isInParagraph)
  if (!start) return undefined
  const html = add('html')
  html.html_end = start.end
  return html
}

/** A heading with a line below it: the paragraph becomes that. */
function startUnderlined(line: Line, { container, add }: Place): BlockNode | undefined {
  if (container.kind !== 'paragraph') return undefined
  const rest = line.text.slice(nextLetter(line).at).trimEnd()
  if (!/^(?:=+|-+)$/.test(rest)) return undefined
  const { definitions, rest: text } = takeDefinitions(container.lines.join('\n'))
  if (text === '') return undefined
  container.definitions = definitions
  container.lines = []
  const heading = add('heading')
  heading.depth = rest[0] === '=' ? 1 : 2
  heading.lines = [text.trimEnd()]
  heading.first_line = container.first_line
  skipLetters(line, line.text.length)
  return heading
}

function startRule(line: Line, { add }: Place): BlockNode | undefined {
  const rest = line.text.slice(nextLetter(line).at)
  if (!/^(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})$/.test(rest)) return undefined
  skipLetters(line, line.text.length)
  return add('rule')
}

function startItem(line: Line, { container, add }: Place): BlockNode | undefined {
  // A list and its item are two levels.
  if (container.level >= MAX_LEVEL - 1) return undefined
  const marker = readMarker(line, container)
  if (!marker) return undefined
  const isOfList = container.kind === 'list' && container.marker!.letter === marker.letter
  if (!isOfList) {
    const list = add('list')
    list.marker = marker
  }
  const item = add('item')
  item.marker = marker
  return item
}

function readMarker(line: Line, container: BlockNode): ListMarker | undefined {
  const { at, indent } = nextLetter(line)
  const match = /^(?:[*+-]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(line.text.slice(at, at + 12))
  if (!match) return undefined
  const start = match[1] === undefined ? undefined : Number(match[1])
  const length = match[0].length
  if (container.kind === 'paragraph') {
    // What a paragraph may end with: an item that is not empty, and of numbers, the first.
    const isEmpty = line.text.slice(at + length).trim() === ''
    if (isEmpty || (start !== undefined && start !== 1)) return undefined
  }
  skipSpaces(line)
  skipLetters(line, length)
  const space = nextLetter(line).indent
  const isEmpty = isBlank(line)
  // Five spaces and more are one, before indented code.
  const width = isEmpty || space < 1 || space > CODE_INDENT ? 1 : space
  skipColumns(line, isEmpty ? space : width)
  return { letter: match[0].at(-1)!, start, offset: indent, width: length + width }
}
