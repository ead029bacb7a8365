import { allEntries, deleteEntry, findEntry, type KeptEntry, putEntry } from './database.ts'

/** How long something can be read again without the service. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000

/** How much is kept, in characters and in number: what was read longest ago goes first. */
const MAX_LENGTH = 10_000_000
const MAX_ENTRIES = 300

/** What the service offers belongs to no user. */
const OF_ALL = '/api/features'

/** What belongs to the user alone, and to no conversation. */
const OF_USER = /^\/(api\/auth\/me|events)$/

/** The conversation of an entry, in its path or, of a thread, in its messages. */
const CONVERSATION = /^\/api\/conversations\/([\w-]+)|"conversation_id":"([\w-]+)"/

/** What the user has seen, for a time without the service. */
export interface Snapshot {
  /** What was read of a path of the API, as JSON. */
  find(path: string): Promise<string | undefined>
  keep(path: string, text: string): Promise<void>
  /** Forgets everything that names an id, such as that of a deleted message. */
  forget(id: string): Promise<void>
  /** Forgets what was read of conversations before an instant. */
  forgetBefore(instant: number): Promise<void>
  /** The ids of the conversations of which something is kept. */
  conversations(): Promise<Set<string>>
  /** Forgets what users have seen. */
  clear(): Promise<void>
  /** Forgets what users have seen if what is kept of a path is another user's. */
  clearUnless(path: string, isSame: (text: string) => boolean): Promise<void>
  /** How often it was cleared: what was read before belongs to another session. */
  clears(): number
}

/** A browser may have no storage left, or allow none: then nothing is kept. */
export function createSnapshot(): Snapshot {
  // One after another: what is forgotten must not be kept by a write that began before.
  let last: Promise<unknown> = attempt(trim)
  const inOrder = <T>(work: () => Promise<T>): Promise<T | undefined> => {
    const done = last.then(() => attempt(work))
    last = done
    return done
  }
  let writes = 0
  let clears = 0
  return {
    find: (path) =>
      inOrder(async () => {
        const entry = await findEntry(path)
        return entry && !isOld(entry) ? entry.text : undefined
      }),
    keep: (path, text) =>
      inOrder(async () => {
        await putEntry({ path, text, at: Date.now() })
        if (++writes % 20 === 0) await trim()
      }),
    forget: (id) =>
      inOrder(async () => {
        for (const { path, text } of await allEntries())
          if (path.includes(id) || text.includes(id)) await deleteEntry(path)
      }),
    forgetBefore: (instant) =>
      inOrder(async () => {
        for (const { path, at } of await allEntries())
          if (at < instant && path !== OF_ALL && !OF_USER.test(path)) await deleteEntry(path)
      }),
    conversations: async () => {
      const ids = await inOrder(async () =>
        (await allEntries()).map(({ path, text }) => CONVERSATION.exec(path) ?? CONVERSATION.exec(text)),
      )
      return new Set(ids?.flatMap((match) => match?.[1] ?? match?.[2] ?? []))
    },
    clear() {
      clears++
      return inOrder(forgetUsers)
    },
    clearUnless: (path, isSame) =>
      inOrder(async () => {
        const entry = await findEntry(path)
        if (!entry || isSame(entry.text)) return
        clears++
        await forgetUsers()
      }),
    clears: () => clears,
  }
}

async function forgetUsers(): Promise<void> {
  for (const { path } of await allEntries()) if (path !== OF_ALL) await deleteEntry(path)
}

async function trim(): Promise<void> {
  const entries = (await allEntries()).sort((one, other) => other.at - one.at)
  let length = 0
  for (const [index, entry] of entries.entries()) {
    length += entry.text.length
    if (length > MAX_LENGTH || index >= MAX_ENTRIES || isOld(entry)) await deleteEntry(entry.path)
  }
}

function isOld({ at }: KeptEntry): boolean {
  return Date.now() - at > KEPT_MS
}

async function attempt<T>(access: () => Promise<T>): Promise<T | undefined> {
  try {
    return await access()
  } catch {
    return undefined
  }
}
