/** The maximum size of a list in one response, in bytes of its JSON: the rest is on the next page. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** How many of these texts may be read at once, by their sizes in bytes: up to a page, and at least one. */
export function countWithin(sizes: readonly number[]): number {
  let room = MAX_PAGE_BYTES
  let count = 0
  for (const size of sizes) {
    room -= size
    if (room < 0 && count > 0) break
    count++
  }
  return count
}

/**
 * The first of these items that fit into a page; at least one, however large.
 *
 * @param atMost an upper bound of an item's JSON in bytes, if one is cheap: with it short pages need not be measured
 */
export function fit<T>(items: T[], atMost?: (item: T) => number): T[] {
  if (atMost && items.reduce((sum, item) => sum + atMost(item), 0) <= MAX_PAGE_BYTES) return items
  let room = MAX_PAGE_BYTES
  // Ends with the first item that does not fit: the rest is not measured.
  const end = items.findIndex((item, index) => {
    room -= Buffer.byteLength(JSON.stringify(item)) + 1
    return room < 0 && index > 0
  })
  return end < 0 ? items : items.slice(0, end)
}

/** The maximum size of a text as JSON, in bytes: a control character is written `\u0000`. */
export function jsonBytes(text: string): number {
  return 6 * text.length + 2
}

/** A position in a list sorted by an instant: the last item, and its instant. */
export interface Place {
  at: number
  id: string
}

/** The cursor after an item. */
export function toCursor({ at, id }: Place): string {
  return `${at}_${id}`
}

/** Decodes a cursor of {@link toCursor}; `undefined` for any other text. */
export function fromCursor(cursor: string): Place | undefined {
  const [, at, id] = /^(\d{1,16})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  return id === undefined ? undefined : { at: Number(at), id }
}
