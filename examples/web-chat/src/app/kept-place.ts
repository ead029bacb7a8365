import { type ChatClient, ChatError, type ReceivedEvent } from 'chat-server/client'
import type { Snapshot } from './snapshot.ts'

/** Where the snapshot has the id of the last event that it was told of. */
const PLACE = '/events'

/** How often the place is written. */
const WRITE_MS = 1000

/** A stream that has sent no event for so long has no more to send again. */
const QUIET_MS = 10_000

/** More events than these are not read: then nothing stays of what was seen before. */
const MAX_EVENTS = 5000

/** How many pages of conversations are read; what is in none of them is asked for. */
const MAX_PAGES = 5

interface Keeping {
  client: ChatClient
  snapshot: Snapshot
  /** Of the lock: one tab of a browser does this. */
  name: string
  forget(event: ReceivedEvent['event']): Promise<void>
}

/** The place in the stream, which the snapshot knows. */
export interface KeptPlace {
  move(received: ReceivedEvent): void
  leave(): void
}

/**
 * Takes from the snapshot what was removed while no page was open: the events since then are read, by a stream beside the
 * one of the page, and kept conversations that are in no list are asked for. From then on the place follows the page.
 */
export function keepPlace({ client, snapshot, name, forget }: Keeping): KeptPlace {
  const started = Date.now()
  const left = new AbortController()
  let last: string | undefined
  let writing: ReturnType<typeof setTimeout> | 'not yet' | undefined = 'not yet'

  function write(): void {
    if (writing !== undefined || last === undefined || left.signal.aborted) return
    writing = setTimeout(() => {
      writing = undefined
      void snapshot.keep(PLACE, last!)
    }, WRITE_MS)
  }

  async function begin(): Promise<void> {
    const from = await snapshot.find(PLACE)
    const isKnown =
      from !== undefined && (await replay({ client, forget, signal: left.signal, isLast: (id) => id === last }, from))
    if (left.signal.aborted) return
    // What was kept before is not known to be there still.
    if (!isKnown) await snapshot.forgetBefore(started)
    await forgetMissing(client, snapshot)
    writing = undefined
    write()
  }

  /** The other tabs wait, and take over. Without locks, each tab does it. */
  async function run(): Promise<void> {
    // What fails is done by the next page: the place stays where it was.
    const beginning = () => begin().catch(() => {})
    if (!navigator.locks) return beginning()
    await navigator.locks.request(name, { signal: left.signal }, async () => {
      await beginning()
      await new Promise((resolve) => left.signal.addEventListener('abort', resolve))
    })
  }

  let isRunning = false
  return {
    move({ id, event }) {
      last = id ?? last
      if (event.type === 'stream.ready' && !isRunning) {
        isRunning = true
        void run().catch(() => {})
      } else if (event.type === 'stream.ready' && writing !== 'not yet')
        void forgetMissing(client, snapshot).catch(() => {})
      write()
    },
    leave() {
      left.abort()
      if (typeof writing === 'number') clearTimeout(writing)
    },
  }
}

interface Replay extends Pick<Keeping, 'client' | 'forget'> {
  signal: AbortSignal
  /** Whether it is the id of the last event of the page: then nothing is missing. */
  isLast(id: string): boolean
}

/** Reads the events since a place. @returns whether they were still there, and not too many */
async function replay({ client, forget, signal, isLast }: Replay, last_event_id: string): Promise<boolean> {
  const end = new AbortController()
  const stop = () => end.abort()
  signal.addEventListener('abort', stop)
  let quiet: ReturnType<typeof setTimeout> | undefined
  // While there is no connection, it is quiet for another reason.
  const on_disconnect = () => clearTimeout(quiet)
  let count = 0
  try {
    for await (const { id, event } of client.events.followAll({ last_event_id, signal: end.signal, on_disconnect })) {
      const isLost = event.type === 'stream.ready' && !event.payload.resumed
      if (isLost || count >= MAX_EVENTS) return false
      await forget(event)
      if (id === undefined) continue
      count++
      if (isLast(id)) return true
      clearTimeout(quiet)
      quiet = setTimeout(stop, QUIET_MS)
    }
    return true
  } finally {
    clearTimeout(quiet)
    signal.removeEventListener('abort', stop)
    stop()
  }
}

/** Forgets kept conversations that are deleted, of which there is no event, or that the user is in no longer. */
async function forgetMissing(client: ChatClient, snapshot: Snapshot): Promise<void> {
  const missing = await snapshot.conversations()
  let after: string | undefined
  for (let page = 0; missing.size > 0 && page < MAX_PAGES; page++) {
    const { conversations, next_after } = await client.conversations.list(after === undefined ? {} : { after })
    for (const { id } of conversations) missing.delete(id)
    after = next_after
    if (after === undefined) break
  }
  for (const id of missing)
    await client.conversations.get(id).catch((error: unknown) => {
      if (!(error instanceof ChatError) || (error.status !== 404 && error.status !== 403)) throw error
      return snapshot.forget(id)
    })
}
