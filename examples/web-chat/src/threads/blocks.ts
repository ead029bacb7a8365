import type { Row } from './rows.ts'

/** How many rows a block has when it begins; those that are inserted later make it longer. */
export const BLOCK = 32

/** Rows that stand one after another. */
export interface Block {
  key: number
  rows: Row[]
}

/**
 * Rows in blocks. A row stays in its block, whatever comes before it: in another one, it would be rendered anew, and an edit
 * in it lost.
 *
 * @param placed the keys of the blocks of rows, by the id of the message; new ones are added
 */
export function blocksOf(rows: readonly Row[], placed: Map<string, number>): Block[] {
  const blocks: Block[] = []
  const last = rows.findLastIndex(({ message }) => placed.has(message.id))
  for (const [index, row] of rows.entries()) {
    const { id } = row.message
    const current = blocks.at(-1)
    // What is inserted between known rows is with the one before it.
    const isAppended = index > last && (!current || current.rows.length >= BLOCK)
    const key = placed.get(id) ?? (current?.key ?? 0) + (current && isAppended ? 1 : 0)
    placed.set(id, key)
    if (current?.key === key) current.rows.push(row)
    else blocks.push({ key, rows: [row] })
  }
  return blocks
}
