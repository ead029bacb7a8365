import type { ChatClient, FollowOptions, ReceivedEvent } from 'chat-server/client'
import { createQueue } from './queue.ts'
import { joinTabs } from './tabs.ts'

/** Opens the stream of all conversations. */
export type OpenStream = ChatClient['events']['followAll']

/**
 * The client, whose stream is that of all tabs of the browser: one of them has it open, and passes on its events. Without
 * the means for that, as on a page without HTTPS, each tab has its own.
 *
 * @param nameOf of the stream: that of the service and the user
 */
export function shareStream(client: ChatClient, nameOf: () => string): ChatClient {
  if (typeof BroadcastChannel === 'undefined' || !navigator.locks) return client
  const { events } = client
  return { ...client, events: { ...events, followAll: (options) => follow(events.followAll, nameOf(), options) } }
}

async function* follow(
  open: OpenStream,
  name: string,
  { signal, on_disconnect }: FollowOptions = {},
): AsyncGenerator<ReceivedEvent> {
  if (signal?.aborted) return
  const queue = createQueue<ReceivedEvent>()
  const leave = joinTabs({ name, open, show: queue.put, lose: (retry_ms) => on_disconnect?.(retry_ms), end: queue.end })
  const stop = () => queue.end()
  signal?.addEventListener('abort', stop)
  try {
    yield* queue.items()
  } finally {
    signal?.removeEventListener('abort', stop)
    leave()
  }
}
