import { createCoalescer } from '../core/scheduling/coalesce.ts'
import type { Ephemeral } from '../live/transaction/transaction.ts'
import type { NodeReload } from './reload-requests.ts'

/** The maximum size of the events of a signal, in bytes. */
const MAX_BYTES = 256 * 1024

/** The maximum number of signals with the events of one time. */
const MAX_SIGNALS = 4

/** The maximum number of events that wait, each about a subject of its own: a database that hangs must not fill the memory. */
const MAX_EVENTS = 5_000

/** The maximum number of users in a signal. */
const MAX_USERS = 5_000

/** What one process sends to the others: ephemeral events, and users whose presence has changed. */
export interface Signal {
  events: Ephemeral[]
  user_ids: string[]
  /** A process shall end the user's oldest stream whose client reads nothing. */
  stalled_stream?: { node_id: string; user_id: string }
  /** All processes shall read their configuration again; the id of the request. */
  reload_request?: string
  /** What became of that in the sender. */
  reload_answer?: { request: string; answer: NodeReload }
}

/** A signal as it is passed on. */
export interface SignalText {
  /** A {@link Signal} as JSON. */
  body: string
  /** The number of its events and users. */
  count: number
  user_ids: readonly string[]
}

/** Only reports that something was committed. */
const BELL: SignalText = { body: JSON.stringify({ events: [], user_ids: [] } satisfies Signal), count: 0, user_ids: [] }

/** Ephemeral events, the latest of each subject alone, and users, until they are taken. */
export function createSignalQueue(onDropped: (count: number) => void) {
  const events = new Map<string, Ephemeral>()
  const userIds = new Set<string>()
  return {
    addEvents(ephemerals: readonly Ephemeral[]): void {
      for (const event of ephemerals) {
        const subject = subjectOf(event)
        // Moved to the end: the order is that of the latest events.
        events.delete(subject)
        if (events.size < MAX_EVENTS) events.set(subject, event)
        else onDropped(1)
      }
    },
    addUsers(ids: readonly string[]): void {
      for (const id of ids) userIds.add(id)
    },
    take(): Signal {
      const signal = { events: [...events.values()], user_ids: [...userIds] }
      events.clear()
      userIds.clear()
      return signal
    },
  }
}

/**
 * Gathers ephemeral events and changes of presence for the other processes.
 *
 * @param deps.send passes a signal on; returns false if that failed: then its users, whose presence would stay outdated at
 * the others, are sent again. @param deps.onDropped counts events beyond the maximum size
 */
export function createOutbox(deps: {
  gather_ms: number
  send: (signal: SignalText) => Promise<boolean>
  onDropped: (count: number) => void
}) {
  const queue = createSignalQueue(deps.onDropped)
  let isRung = false
  const gathering = createCoalescer(deps.gather_ms, async () => {
    const { events, user_ids } = queue.take()
    const signals = toSignals(events, user_ids, deps.onDropped)
    if (isRung && signals.length === 0) signals.push(BELL)
    isRung = false
    for (const signal of signals) if (!(await deps.send(signal))) addUsers(signal.user_ids)
  })

  function addUsers(ids: readonly string[]): void {
    queue.addUsers(ids)
    if (ids.length > 0) gathering.add('')
  }

  return {
    addEvents(events: readonly Ephemeral[]): void {
      queue.addEvents(events)
      gathering.add('')
    },
    addUsers,
    /** Sends a signal, also if nothing else is to be sent. */
    ring(): void {
      isRung = true
      gathering.add('')
    },
    flush: gathering.flush,
    close: gathering.close,
  }
}

function subjectOf({ conversation_id, user_id, user_ids, event }: Ephemeral): string {
  // Each event for the streams of all conversations of users counts, such as each notification.
  if (user_ids) return `${user_ids} ${JSON.stringify(event)}`
  // Each mark of a conversation counts, too: a later one does not read all that an earlier one did.
  if (event.type === 'conversation.unread')
    return [event.type, conversation_id, user_id, event.payload.change, event.payload.at].join()
  const payload = event.payload as { root_id?: string; user_id?: string; user?: { id: string } }
  return [event.type, conversation_id, user_id, payload.root_id, payload.user_id, payload.user?.id].join()
}

/** Signals that the presence of these users has changed, each up to the maximum size. */
export function toUserSignals(userIds: string[]): SignalText[] {
  const signals: SignalText[] = []
  for (let start = 0; start < userIds.length; start += MAX_USERS) {
    const user_ids = userIds.slice(start, start + MAX_USERS)
    signals.push({ body: JSON.stringify({ events: [], user_ids } satisfies Signal), count: user_ids.length, user_ids })
  }
  return signals
}

function toSignals(events: Ephemeral[], userIds: string[], onDropped: (count: number) => void): SignalText[] {
  const parts = inParts(events, onDropped).map((texts): SignalText => {
    return { body: `{"events":[${texts.join()}],"user_ids":[]}`, count: texts.length, user_ids: [] }
  })
  return [...parts, ...toUserSignals(userIds)]
}

/** The events as JSON, in parts of the maximum size, without those for which there is no room. */
function inParts(events: Ephemeral[], onDropped: (count: number) => void): string[][] {
  const parts: string[][] = []
  let taken = MAX_BYTES
  for (const event of events) {
    const text = JSON.stringify(event)
    const bytes = Buffer.byteLength(text) + 1
    const isFull = taken + bytes > MAX_BYTES
    if (bytes > MAX_BYTES || (isFull && parts.length === MAX_SIGNALS)) {
      onDropped(1)
      continue
    }
    if (isFull) {
      parts.push([])
      taken = 0
    }
    parts.at(-1)!.push(text)
    taken += bytes
  }
  return parts
}
