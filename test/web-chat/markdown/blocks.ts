import type { Block, Inline } from '../../../examples/web-chat/src/markdown/tokens.ts'

/** The blocks in a list or a quote. */
export function childrenOf(block: Block): Block[] {
  if (block.type === 'list') return block.items.flatMap(({ blocks }) => blocks)
  return block.type === 'quote' ? block.blocks : []
}

/** The texts of a block and of those in it, with their inlines. */
export function linesIn(block: Block): Inline[][] {
  if ('lines' in block) return [block.lines]
  if (block.type === 'table') return [...block.header, ...block.rows.flat()]
  if (block.type === 'code' || block.type === 'html') return [[block.text]]
  return childrenOf(block).flatMap(linesIn)
}
