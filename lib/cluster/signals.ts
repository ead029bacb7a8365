import { createGathering } from '../core/gather.ts'
import type { Ephemeral } from '../live/transaction.ts'

/** The maximum size of a signal, in UTF-16 units, which are bytes for most of it. */
const MAX_LENGTH = 256 * 1024

/** The maximum number of events that wait, each about a subject of its own: a database that hangs must not fill the memory. */
const MAX_EVENTS = 5_000

/** The maximum number of users in a signal. */
const MAX_USERS = 5_000

/** What one process tells the others: ephemeral events, and users whose presence has changed. */
export interface Signal {
  events: Ephemeral[]
  user_ids: string[]
}

/**
 * Gathers ephemeral events and changes of presence for the other processes: the latest of each subject alone.
 *
 * @param deps.send stores a signal; returns false if that failed: then its users, whose presence would stay outdated at
 * the others, are sent again. @param deps.onDropped counts events beyond the maximum size
 */
export function createOutbox(deps: {
  gather_ms: number
  send: (body: string, count: number) => Promise<boolean>
  onDropped: (count: number) => void
}) {
  const events = new Map<string, Ephemeral>()
  const userIds = new Set<string>()
  const gathering = createGathering(deps.gather_ms, async () => {
    const signals = toSignals([...events.values()], [...userIds], deps.onDropped)
    events.clear()
    userIds.clear()
    for (const { body, count, user_ids } of signals) if (!(await deps.send(body, count))) addUsers(user_ids)
  })

  function addUsers(ids: readonly string[]): void {
    for (const id of ids) userIds.add(id)
    if (ids.length > 0) gathering.add('')
  }

  return {
    addEvents(ephemerals: readonly Ephemeral[]): void {
      for (const each of ephemerals) {
        const subject = subjectOf(each)
        // Moved to the end: the order is that of the latest events.
        events.delete(subject)
        if (events.size < MAX_EVENTS) events.set(subject, each)
        else deps.onDropped(1)
      }
      gathering.add('')
    },
    addUsers,
    flush: gathering.flush,
    close: gathering.close,
  }
}

function subjectOf({ conversation_id, user_id, event }: Ephemeral): string {
  const payload = event.payload as { root_id?: string; user_id?: string }
  return [event.type, conversation_id, user_id, payload.root_id, payload.user_id].join()
}

function toSignals(events: Ephemeral[], userIds: string[], onDropped: (count: number) => void) {
  const signals: { body: string; count: number; user_ids: string[] }[] = []
  const kept: string[] = []
  let length = 0
  for (const event of events) {
    const text = JSON.stringify(event)
    if (length + text.length > MAX_LENGTH) break
    length += text.length + 1
    kept.push(text)
  }
  if (kept.length < events.length) onDropped(events.length - kept.length)
  if (kept.length > 0)
    signals.push({ body: `{"events":[${kept.join()}],"user_ids":[]}`, count: kept.length, user_ids: [] })
  for (let start = 0; start < userIds.length; start += MAX_USERS) {
    const user_ids = userIds.slice(start, start + MAX_USERS)
    signals.push({ body: JSON.stringify({ events: [], user_ids } satisfies Signal), count: user_ids.length, user_ids })
  }
  return signals
}
