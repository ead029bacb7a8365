import type { BlockNode } from './block-node.ts'
import { decodeText } from './entities.ts'
import { tableCells } from './table.ts'
import type { Block, Item } from './tokens.ts'

const TASK = /^\[([ xX])\](?=[ \t\n])/

/** What was read of a block; `undefined` for definitions alone. */
export function toBlock(node: BlockNode): Block<string> | undefined {
  const { kind, lines, depth, fence, aligns, marker } = node
  switch (kind) {
    case 'paragraph':
      return lines.length === 0 ? undefined : { type: kind, lines: lines.join('\n') }
    case 'heading':
      return { type: kind, depth, lines: lines.join('\n') }
    case 'code': {
      const language = fence && decodeText(fence.info)
      return { type: kind, text: lines.join('\n'), language: language === '' ? undefined : language }
    }
    case 'html':
      return { type: kind, text: lines.join('\n') }
    case 'quote':
      return { type: kind, blocks: toBlocks(node.children) }
    case 'list':
      return { type: kind, start: marker!.start, isTight: isTight(node), items: node.children.map(toItem) }
    case 'table': {
      const [header = [], ...rows] = lines.map(tableCells)
      return { type: kind, aligns, header, rows }
    }
    default:
      return { type: 'rule' }
  }
}

function toBlocks(nodes: readonly BlockNode[]): Block<string>[] {
  return nodes.map(toBlock).filter((block) => block !== undefined)
}

function toItem({ children }: BlockNode): Item<string> {
  const blocks = toBlocks(children)
  const first = blocks[0]
  const task = first?.type === 'paragraph' ? TASK.exec(first.lines) : undefined
  if (first?.type !== 'paragraph' || !task) return { isDone: undefined, blocks }
  const lines = first.lines.slice(task[0].length).trimStart()
  return { isDone: task[1] !== ' ', blocks: [{ type: 'paragraph', lines }, ...blocks.slice(1)] }
}

/** Whether no empty line is between the items of a list, and between the blocks of an item. */
function isTight({ children: items }: BlockNode): boolean {
  return !hasGap(items) && !items.some(({ children }) => hasGap(children))
}

function hasGap(nodes: readonly BlockNode[]): boolean {
  return nodes.some((node, index) => index > 0 && nodes[index - 1]!.last_line !== node.first_line - 1)
}
