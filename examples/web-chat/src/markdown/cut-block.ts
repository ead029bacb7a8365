import { CODE_ELEMENTS } from './budget.ts'
import { countLines, cutText, ELEMENT_WEIGHT, LINE_WEIGHT, MAX_WEIGHT, weigh } from './cut-text.ts'
import type { Block, Inline, Item } from './tokens.ts'

type List = Extract<Block, { type: 'list' }>

/** What it takes to lay a block out, in the weights of `weigh`. */
export function weighBlock(block: Block): number {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return ELEMENT_WEIGHT + weighInlines(block.lines)
    case 'code':
      return CODE_ELEMENTS * ELEMENT_WEIGHT + weigh(block.text)
    case 'html':
      return ELEMENT_WEIGHT + weigh(block.text)
    case 'rule':
      return ELEMENT_WEIGHT
    case 'quote':
      return ELEMENT_WEIGHT + sum(block.blocks, weighBlock)
    case 'list':
      return ELEMENT_WEIGHT + sum(block.items, weighItem)
    case 'table':
      return weighRow(block.header) + sum(block.rows, weighRow)
  }
}

function weighInlines(inlines: readonly Inline[]): number {
  return sum(inlines, (inline) => {
    if (typeof inline === 'string') return weigh(inline)
    if (inline.type === 'break') return LINE_WEIGHT
    const text = 'inlines' in inline ? weighInlines(inline.inlines) : weigh(inline.text)
    // An image without a text is shown by its address.
    return ELEMENT_WEIGHT + (text === 0 && inline.type === 'image' ? weigh(inline.href) : text)
  })
}

function weighItem({ blocks }: Item): number {
  return ELEMENT_WEIGHT + sum(blocks, weighBlock)
}

function weighRow(cells: readonly Inline[][]): number {
  return ELEMENT_WEIGHT + sum(cells, (cell) => ELEMENT_WEIGHT + weighInlines(cell))
}

/** The lines of a block, as its writer has made them. */
export function linesOf(block: Block): number {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return 1 + block.lines.filter((inline) => typeof inline !== 'string' && inline.type === 'break').length
    case 'code':
    case 'html':
      return 1 + countLines(block.text)
    case 'rule':
      return 1
    case 'quote':
      return sum(block.blocks, linesOf)
    case 'list':
      return sum(block.items, ({ blocks }) => Math.max(1, sum(blocks, linesOf)))
    case 'table':
      return 1 + block.rows.length
  }
}

function sum<T>(all: readonly T[], measure: (each: T) => number): number {
  return all.reduce((total, each) => total + measure(each), 0)
}

/** A block in pieces that weigh no more than that, each of them a block of its kind; `undefined` if it cannot be cut. */
export function cutBlock(block: Block, max = MAX_WEIGHT): Block[] | undefined {
  if (weighBlock(block) <= max) return [block]
  const room = max - ELEMENT_WEIGHT
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return cutInlines(block.lines, room)?.map((lines) => ({ ...block, lines }))
    case 'code':
      // All of it is copied at once.
      return cutText(block.text, max - CODE_ELEMENTS * ELEMENT_WEIGHT).map((text, index) => ({
        ...block,
        text,
        ...(index === 0 && { whole: block.text }),
      }))
    case 'html':
      return cutText(block.text, room).map((text) => ({ ...block, text }))
    case 'quote':
      return cutQuote(block.blocks, room)
    case 'list':
      return cutList(block, room)
    case 'table':
      // Each piece has the head: it is a table.
      return group(block.rows, weighRow, max - weighRow(block.header))?.map((rows) => ({ ...block, rows }))
    default:
      return undefined
  }
}

function cutQuote(blocks: readonly Block[], max: number): Block[] | undefined {
  const cut = blocks.map((block) => cutBlock(block, max))
  if (cut.includes(undefined)) return undefined
  return group(cut.flat() as Block[], weighBlock, max)?.map((blocks) => ({ type: 'quote', blocks }))
}

function cutList(list: List, max: number): Block[] | undefined {
  let before = 0
  return group(list.items, weighItem, max)?.map((items) => {
    const start = list.start === undefined ? undefined : list.start + before
    before += items.length
    return { ...list, items, start }
  })
}

/** Things in a row, in pieces that weigh no more than that; `undefined` if one alone weighs more. */
function group<T>(all: readonly T[], measure: (each: T) => number, max: number): T[][] | undefined {
  const pieces: T[][] = []
  let weight = max
  for (const each of all) {
    const added = measure(each)
    if (added > max) return undefined
    if (weight + added > max) {
      pieces.push([])
      weight = 0
    }
    pieces.at(-1)!.push(each)
    weight += added
  }
  return pieces
}

/** Lines in pieces, cut behind one of them if each takes less than a piece. */
function cutInlines(inlines: readonly Inline[], max: number): Inline[][] | undefined {
  const cut = inlines.flatMap((inline): Inline[] => (typeof inline === 'string' ? cutText(inline, max / 2) : [inline]))
  return (
    group(toLines(cut), weighInlines, max)?.map((lines) => lines.flat()) ??
    group(cut, (inline) => weighInlines([inline]), max)
  )
}

/** Each with its end. */
function toLines(inlines: readonly Inline[]): Inline[][] {
  const lines: Inline[][] = [[]]
  for (const inline of inlines) {
    lines.at(-1)!.push(inline)
    if (typeof inline !== 'string' && inline.type === 'break') lines.push([])
  }
  return lines
}
