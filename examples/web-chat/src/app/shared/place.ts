/** How many events are remembered: more than a tab can be behind or ahead of another. */
const REMEMBERED = 1_000

/** How far a tab has come in the stream, by the ids of the events. */
export interface Place {
  /** The id after which the stream goes on; `undefined` before the first one. */
  last(): string | undefined
  /** Whether the tab has had an event. */
  has(id: string | undefined): boolean
  move(id: string | undefined): void
}

export function createPlace(): Place {
  const ids = new Set<string>()
  let last: string | undefined
  return {
    last: () => last,
    has: (id) => id !== undefined && ids.has(id),
    move(id) {
      if (id === undefined) return
      last = id
      ids.add(id)
      if (ids.size > REMEMBERED) ids.delete(ids.values().next().value!)
    },
  }
}
