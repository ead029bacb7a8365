import type { Part, PartChange } from '../chat/answers/schema-parts.ts'
import { foldParts } from './parts.ts'

/** Lists and events of messages have the sizes of longer values of a part instead, in bytes of JSON. */
const MAX_SHOWN_BYTES = 2048

/** A row of an answer as it is stored: text, or the JSON of a change of a part. */
export interface PartRow {
  content: string
  part: string | null
}

/** The parts of an answer from all of its rows, in their order. */
export function partsOfRows(rows: readonly PartRow[]): Part[] {
  return foldParts<Part>(rows.map(({ content, part }) => (part === null ? content : (JSON.parse(part) as PartChange))))
}

/** A part in the list of a message: the text of the message has that of its texts already. */
type ListedPart = Part | { id: number; type: 'text'; length: number }

/** The parts of an answer as its message stores them: without long values, and with the lengths of texts. */
export function toStoredParts(parts: readonly Part[]): string {
  const listed = parts.map(
    (part): ListedPart => (part.type === 'text' ? { id: part.id, type: 'text', length: part.text.length } : cut(part)),
  )
  return JSON.stringify(listed)
}

/** The parts that {@link toStoredParts} has stored. @param content the text of the message */
export function toParts(stored: string, content: string): Part[] {
  let at = 0
  return (JSON.parse(stored) as ListedPart[]).map((part): Part => {
    if (!('length' in part)) return part
    const text = content.slice(at, at + part.length)
    at += part.length
    return { id: part.id, type: 'text', text }
  })
}

/** The fields of parts whose values may be long. */
const VALUES = ['text', 'input', 'output', 'data'] as const

/** A part with the size of its long values instead of these. */
export function cut(part: Part): Part {
  const fields: Record<string, unknown> = { ...part }
  let bytes = 0
  for (const name of VALUES) {
    const size = fields[name] === undefined ? 0 : Buffer.byteLength(JSON.stringify(fields[name]))
    if (size <= MAX_SHOWN_BYTES) continue
    bytes += size
    delete fields[name]
  }
  return bytes === 0 ? part : ({ ...fields, cut: bytes } as Part)
}

/** What a row of a message has of the parts of an answer; nothing while all of it is text. */
export interface PartColumns {
  /** Without long values, as JSON. */
  parts?: string | null
  /** With all values. */
  whole_parts?: Part[]
}

/**
 * The parts of a message as its readers get them; `undefined` if it has another text by now, or if all of it is text: then it has
 * parts because its provider keeps data with them.
 */
export function shownParts(row: PartColumns & { content: string; edited_at: number | null }): Part[] | undefined {
  if (!row.parts || row.edited_at) return undefined
  const parts = row.whole_parts ?? toParts(row.parts, row.content)
  return parts.every(({ type }) => type === 'text') ? undefined : parts
}

/** A part of an answer that ends here: the results of calls that run are unknown, and the others never start. */
export function asInterrupted(part: Part): Part {
  if (part.type !== 'tool') return part
  if (part.state === 'running') return { ...part, state: 'unknown' }
  const isOpen = part.state === 'requested' || part.state === 'waiting' || part.state === 'approved'
  return isOpen ? { ...part, state: 'cancelled' } : part
}
