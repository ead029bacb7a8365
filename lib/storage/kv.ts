/** Small values that may be lost at any time, and that expire. */
export interface Kv {
  get<T>(key: string): Promise<T | undefined>
  /** The values of these keys, by key; missing ones are left out. In one call if the store can. */
  getAll<T>(keys: readonly string[]): Promise<Map<string, T>>
  set<T>(key: string, value: T, ttlSeconds: number): Promise<void>
  delete(key: string): Promise<void>
}

/** The methods of an unstorage `Storage` used here. */
export interface KvLike {
  getItem(key: string): Promise<unknown>
  /** Several items in one call. */
  getItems?(keys: string[]): Promise<{ key: string; value: unknown }[]>
  setItem(key: string, value: never): Promise<void>
  removeItem(key: string): Promise<void>
}

interface Entry {
  value: unknown
  expires_at: number
}

/**
 * unstorage in memory for the entries of {@link createKv}, loaded when the first one is stored. Forgets expired entries
 * as further ones are stored.
 *
 * @param now milliseconds since 1970
 */
export function inMemory(now: () => number): KvLike {
  const expiries = createExpiries(now)
  let storage: Promise<KvLike> | undefined
  const load = () => {
    storage ??= import('unstorage').then(({ createStorage }) => createStorage())
    return storage
  }
  return {
    getItem: async (key) => (await load()).getItem(key),
    async setItem(key, entry) {
      const expired = expiries.set(key, entry)
      const loaded = await load()
      await Promise.all([loaded.setItem(key, entry), ...expired.map((key) => loaded.removeItem(key))])
    },
    async removeItem(key) {
      expiries.delete(key)
      await (await load()).removeItem(key)
    },
    getItems: async (keys) => (await load()).getItems!(keys),
  }
}

/** For each stored entry this many others are checked: with one, a store that grows would never be checked whole. */
const EXPIRY_CHECKS = 2

/** When entries expire. They are checked in turn, a few at a time: a check of all at once would block the process. */
function createExpiries(now: () => number) {
  const expiries = new Map<string, number>()
  let cursor = expiries.entries()

  return {
    /** @returns the keys of some entries that have expired */
    set(key: string, { expires_at }: Entry): string[] {
      expiries.set(key, expires_at)
      const expired: string[] = []
      for (let looks = 0; looks < EXPIRY_CHECKS; looks++) {
        const { value } = cursor.next()
        if (!value) cursor = expiries.entries()
        else if (value[1] <= now() && expiries.delete(value[0])) expired.push(value[0])
      }
      return expired
    },
    delete: (key: string) => expiries.delete(key),
  }
}

/**
 * Expiring entries over unstorage, whose memory driver has no expiry.
 *
 * Keys are stored in hex because unstorage rewrites `:`, `/` and `?`; values are stored in an object because it
 * converts bare strings like `"true"` and `"123"` to other types.
 *
 * @param now milliseconds since 1970
 */
export function createKv(storage: KvLike, now: () => number): Kv {
  const nameOf = (key: string) => `chat:${Buffer.from(key).toString('hex')}`

  async function unpack<T>(name: string, item: unknown): Promise<T | undefined> {
    const entry = item as Entry | null
    if (!entry) return undefined
    if (entry.expires_at > now()) return entry.value as T
    await storage.removeItem(name)
    return undefined
  }

  async function listItems(names: string[]): Promise<unknown[]> {
    if (!storage.getItems) return Promise.all(names.map((name) => storage.getItem(name)))
    const items = new Map((await storage.getItems(names)).map(({ key, value }) => [key, value]))
    return names.map((name) => items.get(name))
  }

  return {
    async get<T>(key: string) {
      const name = nameOf(key)
      return unpack<T>(name, await storage.getItem(name))
    },
    async getAll<T>(keys: readonly string[]) {
      const names = keys.map(nameOf)
      const items = await listItems(names)
      const values = new Map<string, T>()
      for (const [index, key] of keys.entries()) {
        const value = await unpack<T>(names[index]!, items[index])
        if (value !== undefined) values.set(key, value)
      }
      return values
    },
    set: (key, value, ttlSeconds) =>
      storage.setItem(nameOf(key), { value, expires_at: now() + ttlSeconds * 1000 } as never),
    delete: (key) => storage.removeItem(nameOf(key)),
  }
}
