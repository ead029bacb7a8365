import { effect } from '@preact/signals'
import type { ChatClient } from 'chat-server/client'
import type { Session } from './session.ts'
import type { Snapshot } from './snapshot.ts'

/** The client, whose events remove from the snapshot what the user is to see no longer. */
export function forgetByEvents(client: ChatClient, snapshot: Snapshot, userId: () => string): ChatClient {
  return {
    ...client,
    events: {
      ...client.events,
      async *followAll(options) {
        for await (const received of client.events.followAll(options)) {
          const { type, payload } = received.event
          if (type === 'message.deleted') await snapshot.forget(payload.message.id)
          else if (type === 'membership.changed' && payload.action === 'removed' && payload.user_id === userId())
            await snapshot.forget(payload.conversation_id)
          // What was removed meanwhile is not known.
          else if (type === 'stream.reset') await snapshot.clear()
          yield received
        }
      },
    },
  }
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
