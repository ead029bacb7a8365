import { effect } from '@preact/signals'
import type { ChatClient, Person, ReceivedEvent } from 'chat-server/client'
import { noteChange } from './changed-message.ts'
import { keepPlace } from './kept-place.ts'
import type { Session } from './session.ts'
import type { Snapshot } from './snapshot.ts'

interface Forgetting {
  snapshot: Snapshot
  userId: () => string
  /** The client with a stream of its own. */
  client: ChatClient
  /** Of the lock of the tab that keeps the place in the stream. */
  name: string
  /** Called with a user who has other names, or another photo. */
  onUser: (user: Person) => void
  /** Called when events were missed. */
  onMissed: () => void
}

/**
 * The client, whose events remove from the snapshot what the user is to see no longer. What happened while no page was open
 * is found out at the beginning.
 *
 * @param shared the client whose stream the page has
 */
export function forgetByEvents(shared: ChatClient, forgetting: Forgetting): ChatClient {
  const { snapshot, userId, client, name, onUser, onMissed } = forgetting
  let isBegun = false
  const forget = (event: ReceivedEvent['event']) => forgetBy(event, snapshot, userId())
  return {
    ...shared,
    events: {
      ...shared.events,
      async *followAll(options) {
        const place = keepPlace({ client, snapshot, name, forget })
        try {
          for await (const received of shared.events.followAll(options)) {
            await forget(received.event)
            if (received.event.type === 'user.updated') onUser(received.event.payload.user)
            if (received.event.type === 'stream.ready') {
              if (isBegun && !received.event.payload.resumed) onMissed()
              isBegun = true
            }
            place.move(received)
            noteChange(received.event)
            yield received
          }
        } finally {
          place.leave()
        }
      },
    },
  }
}

async function forgetBy({ type, payload }: ReceivedEvent['event'], snapshot: Snapshot, user_id: string): Promise<void> {
  // What an edited message was before is kept no longer either; a thread that is shown is kept anew.
  if (type === 'message.deleted' || type === 'message.edited') await snapshot.forget(payload.message.id)
  else if (type === 'membership.changed' && payload.action === 'removed')
    await snapshot.forget(
      payload.user_id === user_id
        ? payload.conversation_id
        : `/api/conversations/${payload.conversation_id}/participants`,
    )
  // What was removed meanwhile is not known.
  else if (type === 'stream.reset') await snapshot.clear()
}

/** Nothing stays after a session. */
export function clearAfter(session: Session, snapshot: Snapshot): void {
  let wasSignedIn = false
  effect(() => {
    const isSignedIn = session.user.value !== undefined
    if (wasSignedIn && !isSignedIn) void snapshot.clear()
    wasSignedIn = isSignedIn
  })
}
