/** How much of a list one answer holds, in bytes of its JSON: what comes after is on the next page. */
export const PAGE_BYTES = 1024 * 1024

/** How many of these texts may be read together, by their sizes in bytes: an answer's worth, and one in any case. */
export function countWithin(sizes: readonly number[]): number {
  let room = PAGE_BYTES
  let count = 0
  for (const size of sizes) {
    room -= size
    if (room < 0 && count > 0) break
    count++
  }
  return count
}

/**
 * As many of these items, from the first on, as an answer holds; one in any case, however large.
 *
 * @param atMost a bound of an item's JSON in bytes, where one is cheaply had: with it short pages need not be measured
 */
export function fit<T>(items: T[], atMost?: (item: T) => number): T[] {
  if (atMost && items.reduce((sum, item) => sum + atMost(item), 0) <= PAGE_BYTES) return items
  let room = PAGE_BYTES
  // Ends with the first item that is too much: what is left out is not measured.
  const end = items.findIndex((item, index) => {
    room -= Buffer.byteLength(JSON.stringify(item)) + 1
    return room < 0 && index > 0
  })
  return end < 0 ? items : items.slice(0, end)
}

/** The longest that a text can be as JSON, in bytes: a control character is written `\u0000`. */
export function jsonBytes(text: string): number {
  return 6 * text.length + 2
}

/** A place in a list that is in the order of an instant: which item was last, and its instant. */
export interface Place {
  at: number
  id: string
}

/** The cursor after an item. */
export function toCursor({ at, id }: Place): string {
  return `${at}_${id}`
}

/** What {@link toCursor} made, or `undefined` for anything else. */
export function fromCursor(cursor: string): Place | undefined {
  const [, at, id] = /^(\d{1,16})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  return id === undefined ? undefined : { at: Number(at), id }
}
