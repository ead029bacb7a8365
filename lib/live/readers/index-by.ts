/** The values under each key. */
export type Index<Value> = ReturnType<typeof createIndex<Value>>

/** Creates an index. A key without values takes no memory. */
export function createIndex<Value>() {
  const sets = new Map<string, Set<Value>>()
  const none: ReadonlySet<Value> = new Set()
  return {
    /** The number of keys. */
    size: () => sets.size,
    get: (key: string): ReadonlySet<Value> => sets.get(key) ?? none,
    add(key: string, value: Value): void {
      const set = sets.get(key)
      if (set) set.add(value)
      else sets.set(key, new Set([value]))
    },
    remove(key: string, value: Value): void {
      const set = sets.get(key)
      set?.delete(value)
      if (set?.size === 0) sets.delete(key)
    },
  }
}
