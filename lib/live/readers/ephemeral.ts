import type { EphemeralEvent } from '../../context.ts'
import type { Delivered } from './delivery.ts'

/** Ephemeral events until the next delivery: the last one of each subject. */
export function createEphemeralEvents() {
  const events = new Map<string, Delivered>()
  return {
    add(conversation_id: string, event: EphemeralEvent): void {
      events.set(`${conversation_id} ${subjectOf(event)}`, { conversation_id, event })
    },
    clear: () => events.clear(),
    isEmpty: () => events.size === 0,
    list: () => [...events],

    /** Removes these events, except those that a newer one has replaced. @returns all of these events */
    take(listed: [subject: string, event: Delivered][]): Delivered[] {
      for (const [subject, event] of listed) if (events.get(subject) === event) events.delete(subject)
      return listed.map(([, event]) => event)
    },
  }
}

/** The subject of an event: a later event about the same subject replaces this one. */
function subjectOf({ type, payload }: EphemeralEvent): string {
  const { root_id, user_id } = payload as { root_id?: string; user_id?: string }
  return [type, root_id, user_id].join()
}
