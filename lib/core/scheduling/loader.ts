/** The maximum number of keys per load. */
const MAX_KEYS = 256

/** Finds the value of a key. */
export type Find<Value> = (key: string) => Promise<Value | undefined>

/**
 * Creates a function that loads values by key. The keys of one turn of the event loop are loaded together.
 *
 * @param load returns the values that exist, by key
 */
export function createLoader<Value>(load: (keys: string[]) => Promise<Map<string, Value>>): Find<Value> {
  let pending: { keys: Set<string>; values: Promise<Map<string, Value>> } | undefined

  function begin() {
    const keys = new Set<string>()
    const values = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (pending?.keys === keys) pending = undefined
      return load([...keys])
    })
    return { keys, values }
  }

  return async (key) => {
    if (!pending || pending.keys.size >= MAX_KEYS) pending = begin()
    pending.keys.add(key)
    return (await pending.values).get(key)
  }
}
