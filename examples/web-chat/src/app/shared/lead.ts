import type { ReceivedEvent } from 'chat-server/client'
import type { Place } from './place.ts'
import type { OpenStream } from './stream.ts'

interface Leading {
  /** Of the lock. */
  name: string
  /** How far this tab has come: there the stream goes on. */
  place: Place
  open: OpenStream
  /** @param after the id of the event before it */
  pass(received: ReceivedEvent, after: string | undefined): void
  lose(retry_ms: number): void
  end(error?: unknown): void
  onElected(): void
  /** Another tab has taken the lock: this one did not answer. */
  onDeposed(): void
}

/** The part of a tab that may become the leader. */
export interface Lead {
  isLeading(): boolean
  /** What a tab that joins has to know. */
  state(): { unread: number | undefined; isOpen: boolean }
  /** Waits for the lock, or takes it at once. */
  campaign(how?: { steal: boolean }): void
  leave(): void
}

export function createLead({ name, place, open, pass, lose, end, onElected, onDeposed }: Leading): Lead {
  let turn: AbortController | undefined
  let isLeading = false
  let hasLeft = false
  let isOpen = false
  let unread: number | undefined

  async function follow(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    isLeading = true
    onElected()
    const last_event_id = place.last()
    const on_disconnect = (retry_ms: number) => {
      isOpen = false
      lose(retry_ms)
    }
    try {
      for await (const received of open({
        signal,
        on_disconnect,
        ...(last_event_id !== undefined && { last_event_id }),
      })) {
        if (signal.aborted) return
        const { event, id } = received
        if (event.type === 'stream.ready') isOpen = true
        if ('unread' in event.payload && !('root_id' in event.payload)) unread = event.payload.unread
        const after = place.last()
        place.move(id)
        pass(received, after)
      }
      if (!signal.aborted) end()
    } catch (error) {
      if (!signal.aborted) end(error)
    }
  }

  async function run(how: { steal: boolean }): Promise<void> {
    turn?.abort()
    const own = new AbortController()
    turn = own
    const options = how.steal ? how : { signal: own.signal }
    let wasGranted = false
    try {
      await navigator.locks.request(name, options, () => {
        wasGranted = true
        return follow(own.signal)
      })
    } catch {
      // It was given up, or another tab has taken the lock; a page that may have none has a stream of its own.
      if (!wasGranted && !own.signal.aborted) await follow(own.signal)
    }
    own.abort()
    if (turn !== own) return
    isLeading = false
    isOpen = false
    if (hasLeft) return
    onDeposed()
    void run({ steal: false })
  }

  return {
    isLeading: () => isLeading,
    state: () => ({ unread, isOpen }),
    campaign: (how = { steal: false }) => void run(how),
    leave() {
      hasLeft = true
      isLeading = false
      turn?.abort()
    },
  }
}
