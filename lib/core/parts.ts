/** A part of an answer, by the number of its first row. */
interface AnyPart {
  id: number
  type: string
  text?: string | undefined
}

/** A row that is no text: the fields of a part that it sets, and what it adds to the `text` of the part. */
interface AnyChange extends AnyPart {
  delta?: string | undefined
}

/**
 * The parts of an answer by their ids. Server, client and store have no other fold, so they never disagree.
 *
 * @param rows of the answer, each at its number: texts, and changes of parts. A text that follows a text continues it
 */
export function foldParts<Part extends AnyPart>(rows: readonly (string | AnyChange)[]): Part[] {
  // In the order in which parts begin, which is that of their ids.
  const parts = new Map<number, AnyPart>()
  let open: AnyPart | undefined
  rows.forEach((row, idx) => {
    if (typeof row !== 'string') {
      const { delta, ...fields } = row
      const known = parts.get(row.id)
      parts.set(row.id, { ...known, ...fields, ...(delta !== undefined && { text: (known?.text ?? '') + delta }) })
      open = undefined
      return
    }
    if (row === '') return
    open = { ...(open ?? { id: idx, type: 'text' }), text: (open?.text ?? '') + row }
    parts.set(open.id, open)
  })
  return [...parts.values()] as Part[]
}
