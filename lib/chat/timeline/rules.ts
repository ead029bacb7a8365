import type { Micros } from '../../storage/sql.ts'
import type { View } from './schema.ts'

/** A list of messages by arrival: of a conversation, or of the thread of a root. */
export interface List {
  view: View
  /** The id of the conversation, or of the root. */
  id: string
  /** Only later messages are in the list: the arrival of the root of a thread, else 0. */
  from: Micros
}

/** The cursor of a list at an arrival. It has no id of a message, so it outlives the message. */
export function toCursor({ view, id }: List, at: Micros): string {
  return `${view}_${at}_${id}`
}

/** The arrival of a cursor of this list; `undefined` for any other text. */
export function fromCursor({ view, id }: List, cursor: string): Micros | undefined {
  const [, ofView, at, of] = /^([a-z]+)_(\d{1,16})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  const arrival = Number(at)
  return ofView === view && of === id && arrival < Number.MAX_SAFE_INTEGER ? arrival : undefined
}

/** Whether a place is named by the id of a message; else it is a cursor. */
export function isMessageId(place: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(place)
}

/** The two sides of a place in a list, the messages next to it first. */
export interface Sides<Row> {
  older: Row[]
  newer: Row[]
}

/** The messages of both sides by their distance from the place: a page keeps the first ones. */
export function byDistance<Row>({ older, newer }: Sides<Row>): Row[] {
  return Array.from({ length: Math.max(older.length, newer.length) }, (_, n) => [newer[n], older[n]])
    .flat()
    .filter((row) => row !== undefined)
}
