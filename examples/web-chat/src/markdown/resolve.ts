import { type Budget, CODE_ELEMENTS, ELEMENT_STEPS, spend } from './budget.ts'
import { parseInlines } from './parse-inlines.ts'
import type { MentionedNames } from './split-mentions.ts'
import type { Block, Inline, References } from './tokens.ts'

/** A block with its lines parsed. @throws OverBudget */
export function resolveBlock(
  block: Block<string>,
  references: References,
  budget: Budget,
  names?: MentionedNames,
): Block {
  spend(budget, ELEMENT_STEPS)
  const parse = (lines: string): Inline[] => {
    spend(budget, ELEMENT_STEPS)
    return parseInlines(lines, references, budget, names)
  }
  const resolve = (blocks: Block<string>[]) => blocks.map((inner) => resolveBlock(inner, references, budget, names))
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return { ...block, lines: parse(block.lines) }
    case 'quote':
      return { ...block, blocks: resolve(block.blocks) }
    case 'list':
      return { ...block, items: block.items.map(({ isDone, blocks }) => ({ isDone, blocks: resolve(blocks) })) }
    case 'table':
      // Each row has as many cells as the head.
      return {
        ...block,
        header: block.header.map(parse),
        rows: block.rows.map((cells) => block.header.map((_, index) => parse(cells[index] ?? ''))),
      }
    case 'code':
      spend(budget, CODE_ELEMENTS * ELEMENT_STEPS)
      return block
    default:
      return block
  }
}
