import { type ChatClient, ChatError } from 'chat-server/client'
import type { Keeping } from './kept-place.ts'
import type { Snapshot } from './snapshot.ts'

/** A stream that has sent no event for so long has no more to send again. */
const QUIET_MS = 10_000

/** More events than these are not read: then nothing stays of what was seen before. */
const MAX_EVENTS = 5000

/** How many pages of conversations are read; what is in none of them is asked for. */
const MAX_PAGES = 5

interface Replay extends Pick<Keeping, 'client' | 'forget'> {
  signal: AbortSignal
  /** Whether it is the id of the last event of the page: then nothing is missing. */
  isLast(id: string): boolean
}

/** Reads the events since a place. @returns whether they were still there, and not too many */
export async function replay({ client, forget, signal, isLast }: Replay, last_event_id: string): Promise<boolean> {
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
export async function forgetMissing(client: ChatClient, snapshot: Snapshot): Promise<void> {
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
