import type { ReceivedEvent } from 'chat-server/client'
import { createLead } from './lead.ts'
import { createPlace } from './place.ts'
import type { OpenStream } from './stream.ts'

/** How long the leader may take to answer: one whose tab the browser has frozen loses its part. */
const TIMEOUT_MS = 5_000

/** What tabs send each other. */
type Note =
  /** An event, and the id of the one before it. */
  | { type: 'event'; received: ReceivedEvent; after: string | undefined }
  /** The leader has no connection, and tries again after a time. */
  | { type: 'lost'; retry_ms: number }
  /** The stream has ended, as that of a session that is over. */
  | { type: 'ended' }
  /** Which event was the last one? */
  | { type: 'asked'; by: string }
  | { type: 'answered'; to: string; last: string | undefined; unread: number | undefined; isOpen: boolean }

/** A tab among those that share a stream. */
interface Membership {
  name: string
  open: OpenStream
  show(received: ReceivedEvent): void
  /** The connection is lost. @param retry_ms until it is tried again, as far as that is known */
  lose(retry_ms: number): void
  end(error?: unknown): void
}

/**
 * Joins the tabs that share a stream. The one that has the lock is the leader, which has the stream open; when it leaves, the
 * next one goes on after the last event that it has had. Each event names the one before it, so a tab that has missed one
 * notices, and begins anew.
 *
 * @returns a function that leaves
 */
export function joinTabs({ name, open, show, lose, end }: Membership): () => void {
  const channel = new BroadcastChannel(name)
  const tell = (note: Note) => channel.postMessage(note)
  const id = String(crypto.getRandomValues(new Uint32Array(2)))
  const place = createPlace()
  let timer: ReturnType<typeof setTimeout> | undefined
  const lead = createLead({
    name,
    place,
    open,
    pass(received, after) {
      tell({ type: 'event', received, after })
      show(received)
    },
    lose(retry_ms) {
      tell({ type: 'lost', retry_ms })
      lose(retry_ms)
    },
    end(error) {
      tell({ type: 'ended' })
      finish(error)
    },
    onElected: calm,
    onDeposed: ask,
  })

  function ask(): void {
    if (lead.isLeading()) return
    tell({ type: 'asked', by: id })
    timer ??= setTimeout(() => {
      timer = undefined
      lead.campaign({ steal: true })
    }, TIMEOUT_MS)
  }

  function calm(): void {
    clearTimeout(timer)
    timer = undefined
  }

  function receive(note: Note): void {
    if (note.type === 'asked') {
      if (lead.isLeading()) tell({ type: 'answered', to: note.by, last: place.last(), ...lead.state() })
      return
    }
    if (lead.isLeading()) return
    calm()
    if (note.type === 'event') take(note)
    else if (note.type === 'lost') lose(note.retry_ms)
    else if (note.type === 'ended') finish()
    else if (note.to === id) begin(note)
  }

  function take({ received, after }: { received: ReceivedEvent; after: string | undefined }): void {
    const isMissing = !place.has(after)
    if (received.event.type === 'stream.ready') {
      place.move(received.id)
      show(isMissing ? ready(received.id ?? '') : received)
    } else if (isMissing) ask()
    else if (!place.has(received.id)) {
      place.move(received.id)
      show(received)
    }
  }

  /** Begins where the leader is, unless it is known that nothing was missed. */
  function begin({ last, unread, isOpen }: Extract<Note, { type: 'answered' }>): void {
    if (!isOpen) lose(0)
    if (!isOpen || last === undefined || place.has(last)) return
    place.move(last)
    show(ready(last))
    if (unread !== undefined) show({ event: { type: 'notifications.count', payload: { unread } } })
  }

  function onVisible(): void {
    if (document.visibilityState === 'visible') ask()
  }

  function finish(error?: unknown): void {
    leave()
    end(error)
  }

  function leave(): void {
    calm()
    document.removeEventListener('visibilitychange', onVisible)
    lead.leave()
    channel.close()
  }

  channel.onmessage = ({ data }) => receive(data as Note)
  document.addEventListener('visibilitychange', onVisible)
  lead.campaign()
  ask()
  return leave
}

/** The beginning of a stream of which nothing is known. */
function ready(last_event_id: string): ReceivedEvent {
  return { id: last_event_id, event: { type: 'stream.ready', payload: { resumed: false, last_event_id } } }
}
