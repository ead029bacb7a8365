import { type BlockNode, canContain, createNode } from './block-node.ts'
import { skipQuoteMarker, startBlock } from './block-starts.ts'
import { type Budget, OverBudget, spend } from './budget.ts'
import { CODE_INDENT, isBlank, type Line, nextLetter, restOf, skipColumns, skipSpaces, startLine } from './line.ts'
import { type Definition, takeDefinitions } from './references.ts'
import { toBlock } from './to-block.ts'
import type { Block } from './tokens.ts'

/** A block that is in no other one, and where it begins. */
export interface Part {
  at: number
  /** Without one there are only definitions. */
  block: Block<string> | undefined
  definitions: Definition[]
  /** Of the budget, before it. */
  left: number
}

/** What is open while lines are read. */
interface State {
  readonly root: BlockNode
  /** The innermost open block. */
  tip: BlockNode
  /** Where the lines begin, and what is left of the budget there. */
  readonly starts: { at: number; left: number }[]
  readonly budget: Budget
}

/**
 * The blocks of a text, as CommonMark has them, with tables. Each line is read once, for each container it is in: it takes
 * as long as the text, whatever is in it.
 *
 * @param text with `\n` as the end of lines
 * @param from where a line begins outside of all blocks
 * @returns as well, where the block begins that the budget was used up in, or the end of the text
 */
export function parseBlocks(text: string, from: number, budget: Budget): { parts: Part[]; end: number } {
  const root = createNode('document', undefined, 0)
  const state: State = { root, tip: root, starts: [], budget }
  let at = from
  try {
    for (; at < text.length; at = lineEnd(text, at) + 1) {
      state.starts.push({ at, left: budget.left })
      spend(budget, 1)
      readLine(state, startLine(text.slice(at, lineEnd(text, at)), state.starts.length - 1))
    }
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error
    const cut = root.children.pop()
    state.tip = root
    at = cut ? state.starts[cut.first_line]!.at : from
  }
  while (state.tip !== root) close(state, state.starts.length - 1)
  const parts = root.children.map((node) => ({
    ...state.starts[node.first_line]!,
    block: toBlock(node),
    definitions: definitionsOf(node),
  }))
  return { parts, end: Math.min(at, text.length) }
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

function readLine(state: State, line: Line): void {
  const { container, isEnd } = findContainer(state, line)
  if (isEnd) return
  const { block, isUnmatched } = startBlocks(state, line, container)
  const { tip } = state
  if (isUnmatched && !isBlank(line) && tip.kind === 'paragraph') {
    // A line that goes on with a paragraph need not have the marks of what that is in.
    addText(tip, line)
    return
  }
  closeUntil(state, block, line.number - 1)
  if (block.kind === 'code' || block.kind === 'html') {
    // The line with the opening fence is read.
    if (block.fence && block.first_line === line.number) return
    block.lines.push(restOf(line))
    if (block.html_end?.test(block.lines.at(-1)!)) close(state, line.number)
  } else if (isBlank(line)) return
  else if (block.kind === 'paragraph' || block.kind === 'table') addText(block, line)
  else addText(addBlock(state, 'paragraph', line), line)
}

/** The innermost open block that the line goes on with. */
function findContainer(state: State, line: Line): { container: BlockNode; isEnd: boolean } {
  let container = state.root
  for (let child = container.children.at(-1); child?.isOpen; child = child.children.at(-1)) {
    const goesOn = continues(child, line)
    if (goesOn === 'end') {
      closeUntil(state, child, line.number - 1)
      close(state, line.number)
      return { container, isEnd: true }
    }
    if (!goesOn) break
    container = child
  }
  return { container, isEnd: false }
}

/** Whether the line belongs to an open block; `end` if it is the last one of it. Reads what that has in front. */
function continues(node: BlockNode, line: Line): boolean | 'end' {
  const { at, indent } = nextLetter(line)
  const isEmpty = at >= line.text.length
  switch (node.kind) {
    case 'document':
    case 'list':
      return true
    case 'quote':
      if (indent >= CODE_INDENT || line.text[at] !== '>') return false
      skipQuoteMarker(line)
      return true
    case 'item': {
      const width = node.marker!.offset + node.marker!.width
      if (isEmpty ? node.children.length === 0 : indent < width) return false
      skipColumns(line, isEmpty ? indent : width)
      return true
    }
    case 'code':
      return node.fence ? continuesFence(node.fence, line) : continuesIndented(line)
    case 'html':
      return node.html_end !== undefined || !isEmpty
    case 'paragraph':
    case 'table':
      return !isEmpty
    default:
      return false
  }
}

function continuesFence({ letter, length, indent }: NonNullable<BlockNode['fence']>, line: Line): boolean | 'end' {
  const next = nextLetter(line)
  const rest = line.text.slice(next.at).trimEnd()
  const isClosing = next.indent < CODE_INDENT && rest.length >= length && rest === letter.repeat(rest.length)
  if (isClosing) return 'end'
  skipColumns(line, indent)
  return true
}

function continuesIndented(line: Line): boolean {
  if (nextLetter(line).indent >= CODE_INDENT) skipColumns(line, CODE_INDENT)
  else if (isBlank(line)) skipSpaces(line)
  else return false
  return true
}

/** The block that the rest of the line belongs to, with those that begin in it. */
function startBlocks(state: State, line: Line, container: BlockNode): { block: BlockNode; isUnmatched: boolean } {
  let block = container
  let isUnmatched = container !== state.tip
  while (block.kind !== 'code' && block.kind !== 'html') {
    const add = (kind: BlockNode['kind']) => {
      closeUntil(state, block, line.number - 1)
      isUnmatched = false
      block = addBlock(state, kind, line)
      return block
    }
    const started = startBlock(line, { container: block, add, isInParagraph: state.tip.kind === 'paragraph' })
    if (!started) break
    block = started
    if (block.kind !== 'quote' && block.kind !== 'item') break
  }
  return { block, isUnmatched }
}

function addBlock(state: State, kind: BlockNode['kind'], line: Line): BlockNode {
  spend(state.budget, 1)
  while (!canContain(state.tip, kind)) close(state, line.number - 1)
  state.tip = createNode(kind, state.tip, line.number)
  return state.tip
}

function addText(node: BlockNode, line: Line): void {
  node.lines.push(line.text.slice(nextLetter(line).at))
}

function closeUntil(state: State, node: BlockNode, last_line: number): void {
  while (state.tip !== node) close(state, last_line)
}

/** Closes the innermost open block. */
function close(state: State, last_line: number): void {
  const { tip: node } = state
  const parent = node.parent!
  node.isOpen = false
  node.last_line = last_line
  state.tip = parent
  // Empty lines at the end of an item are behind it.
  if (node.kind === 'list' || node.kind === 'item') node.last_line = node.children.at(-1)?.last_line ?? node.first_line
  if (node.kind === 'code' && !node.fence) {
    while (node.lines.at(-1)?.trim() === '') node.lines.pop()
    node.last_line = node.first_line + node.lines.length - 1
  }
  if (node.kind !== 'paragraph') return
  node.last_line = node.first_line + node.lines.length - 1
  const { definitions, rest } = takeDefinitions(node.lines.join('\n'))
  node.definitions.push(...definitions)
  node.lines = rest.trim() === '' ? [] : [rest.trimEnd()]
  if (node.lines.length === 0 && node.definitions.length === 0) parent.children.pop()
}

function definitionsOf(node: BlockNode): Definition[] {
  return [...node.definitions, ...node.children.flatMap(definitionsOf)]
}
