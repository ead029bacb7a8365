/** How many keys are loaded together at most. */
const MAX_KEYS = 256

/** Finds the value of a key. */
export type Find<Value> = (key: string) => Promise<Value | undefined>

/**
 * Makes a function that loads values by their keys: those of one turn of the event loop together.
 *
 * @param load returns the values that exist, by key
 */
export function createLoader<Value>(load: (keys: string[]) => Promise<Map<string, Value>>): Find<Value> {
  let pending: { keys: Set<string>; values: Promise<Map<string, Value>> } | undefined

  function begin(first: string) {
    const keys = new Set([first])
    const values = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (pending?.keys === keys) pending = undefined
      return load([...keys])
    })
    return { keys, values }
  }

  return async (key) => {
    if (!pending || pending.keys.size >= MAX_KEYS) pending = begin(key)
    pending.keys.add(key)
    return (await pending.values).get(key)
  }
}
