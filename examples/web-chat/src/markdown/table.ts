import type { Align } from './tokens.ts'

/** A wider table is text: each of its rows has as many cells. */
const MAX_COLUMNS = 64

/** The columns of the line below the head of a table; `undefined` if it is none. */
export function tableColumns(line: string, head: string): Align[] | undefined {
  if (!line.includes('|') || /[^-:| \t]/.test(line)) return undefined
  const cells = tableCells(line)
  if (cells.length > MAX_COLUMNS || !cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined
  if (tableCells(head).length !== cells.length) return undefined
  return cells.map((cell) => {
    const isRight = cell.endsWith(':')
    if (cell.startsWith(':')) return isRight ? 'center' : 'left'
    return isRight ? 'right' : undefined
  })
}

/** The cells of a row. */
export function tableCells(line: string): string[] {
  const row = line.trim()
  const cells: string[] = []
  let cell = ''
  let from = row[0] === '|' ? 1 : 0
  for (let at = from; at < row.length; at++) {
    if (row[at] === '\\' && row[at + 1] === '|') {
      cell += row.slice(from, at)
      from = ++at
    } else if (row[at] === '\\') at++
    else if (row[at] === '|') {
      cells.push((cell + row.slice(from, at)).trim())
      cell = ''
      from = at + 1
    }
  }
  if (from < row.length || cell !== '') cells.push((cell + row.slice(from)).trim())
  return cells
}
