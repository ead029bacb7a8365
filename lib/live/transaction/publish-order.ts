/** A transaction that has taken numbers of logs, and is not published yet. */
export interface Ticket {
  /** Resolves once all with smaller numbers have left; `undefined` if there are none, as is usual. */
  turn(): Promise<unknown> | undefined
  /** Ends the wait of the later ones: it is published, or will not be. */
  leave(): void
}

interface Entry {
  heads: ReadonlyMap<string, number>
  waiting: (() => void)[]
}

/**
 * Publishes the commits of this process in the order of each log. PostgreSQL lets go of the locks of a transaction before it
 * confirms the commit, so the confirmation of the next one may arrive first.
 */
export function createPublishOrder() {
  const entries = new Map<string, Set<Entry>>()

  function listBefore(own: Entry): Set<Entry> {
    const before = new Set<Entry>()
    for (const [id, head] of own.heads)
      for (const other of entries.get(id) ?? []) if (other.heads.get(id)! < head) before.add(other)
    return before
  }

  return {
    /** Notes the last number of each log before the lines of a transaction, as soon as they are known. */
    enter(heads: ReadonlyMap<string, number>): Ticket {
      const entry: Entry = { heads, waiting: [] }
      for (const id of heads.keys()) {
        const open = entries.get(id)
        if (open) open.add(entry)
        else entries.set(id, new Set([entry]))
      }
      return {
        turn() {
          const before = listBefore(entry)
          if (before.size === 0) return undefined
          return Promise.all([...before].map(({ waiting }) => new Promise<void>((go) => waiting.push(go))))
        },
        leave() {
          for (const id of heads.keys()) {
            const open = entries.get(id)
            open?.delete(entry)
            if (open?.size === 0) entries.delete(id)
          }
          for (const go of entry.waiting.splice(0)) go()
        },
      }
    },

    /** The number of logs with a transaction that is not published. */
    size: () => entries.size,
  }
}
