import type { UsedParts } from '../chat/answers/rules-limits.ts'
import type { Part, PartChange } from '../chat/answers/schema-parts.ts'
import { type GivenRow, listGivenRows } from '../chat/answers/store-parts.ts'
import { partsOfRows } from '../core/stored-parts.ts'
import type { Queries } from '../storage/database.ts'
import type { GivenPart } from './provider.ts'

/** What the steps of an answer have written. */
export interface SoFar {
  /** With all values, and what their provider keeps with them. */
  parts: GivenPart[]
  /** What an answer has limits for, beside text and reasoning: parts, rows, and bytes of these rows. */
  used: UsedParts
  reasoning: { parts: number; bytes: number }
}

/** What an answer has so far, from its rows. By primary key. */
export async function readSoFar(db: Queries, messageId: string): Promise<SoFar> {
  return toSoFar(await listGivenRows(db, messageId))
}

/** @param rows all of an answer, in order */
export function toSoFar(rows: readonly GivenRow[]): SoFar {
  const used = { parts: 0, rows: 0, bytes: 0 }
  for (const { part, provider_data } of rows) {
    if (part === null) continue
    const { type } = JSON.parse(part) as PartChange
    used.bytes += provider_data?.length ?? 0
    if (type === 'reasoning') continue
    used.rows++
    used.bytes += Buffer.byteLength(part)
  }
  const parts = toGivenParts(rows)
  const thoughts = parts.flatMap((part) => (part.type === 'reasoning' ? (part.text ?? '') : []))
  used.parts = parts.filter(({ type }) => type !== 'text' && type !== 'reasoning').length
  const bytes = thoughts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return { parts, used, reasoning: { parts: thoughts.length, bytes } }
}

/**
 * The parts of an answer as its provider gets them: what it keeps with a chunk comes back with the part, and of several chunks
 * of one part the last.
 *
 * @param rows all of an answer, in order
 */
export function toGivenParts(rows: readonly GivenRow[]): GivenPart[] {
  const parts: GivenPart[] = partsOfRows(rows)
  rows.forEach(({ part: change, provider_data }, idx) => {
    if (provider_data === null) return
    const [data, id] = JSON.parse(provider_data) as KeptWithRow
    const part = ownerOf(parts, change === null ? undefined : (JSON.parse(change) as PartChange), idx)
    if (part === undefined) return
    if (data !== null) part.provider_data = data
    if (id !== undefined) part.provider_id = id
  })
  return parts
}

/** Data of a provider, `null` for none; of a call that it runs, its id of the call. */
type KeptWithRow = [data: unknown, id?: string]

/** The data of a row of a call that the provider runs, with its id of the call. @param kept the data of the row, as a list of one */
export function withProviderId(kept: string | undefined, id: string): string {
  const [data = null] = JSON.parse(kept ?? '[]') as Partial<KeptWithRow>
  return JSON.stringify([data, id] satisfies KeptWithRow)
}

/** The part to which a row belongs: an empty text, which makes none, to the one before it, or else to the first. */
function ownerOf(parts: GivenPart[], change: PartChange | undefined, idx: number): GivenPart | undefined {
  if (change) return parts.find(({ id }) => id === change.id)
  return parts.findLast(({ id }: Part) => id <= idx) ?? parts[0]
}
