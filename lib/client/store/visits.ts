import { createBackoff, pause } from '../backoff.ts'
import type { Follower } from './feed.ts'
import type { StoreClient } from './types.ts'

/** The open stream of a conversation. */
interface Visit {
  visitors: Set<Follower>
  ending: AbortController
}

/** The visits of each store, known by the set of its followers, by conversation. */
const visitsOf = new WeakMap<ReadonlySet<Follower>, Map<string, Visit>>()

/**
 * Follows the own stream of a conversation: one for all its visitors, which read again when it begins, as they have missed
 * what came before, and when it ends. Its events are for all followers: each knows what it shows.
 *
 * @returns a function that leaves; with the last visitor the stream ends
 */
export function visit(
  client: StoreClient,
  id: string,
  visitor: Follower,
  followers: ReadonlySet<Follower>,
): () => void {
  const visits = visitsOf.get(followers) ?? new Map<string, Visit>()
  visitsOf.set(followers, visits)
  const known = visits.get(id)
  const { visitors, ending } = known ?? { visitors: new Set(), ending: new AbortController() }
  visitors.add(visitor)
  if (known) visitor.load?.()
  else {
    visits.set(id, { visitors, ending })
    void follow(client, id, { visitors, ending }, followers)
  }

  return () => {
    visitors.delete(visitor)
    if (visitors.size > 0) return
    ending.abort()
    visits.delete(id)
  }
}

async function follow(
  client: StoreClient,
  id: string,
  { visitors, ending: { signal } }: Visit,
  followers: ReadonlySet<Follower>,
): Promise<void> {
  const load = () => {
    for (const visitor of [...visitors]) visitor.load?.()
  }
  const backoff = createBackoff()
  while (!signal.aborted) {
    try {
      for await (const { event } of client.events.follow(id, { signal })) {
        if (event.type === 'stream.ready') {
          backoff.opened()
          if (!event.payload.resumed) load()
        } else if (event.type !== 'stream.reset' && event.type !== 'stream.closed')
          for (const follower of [...followers]) follower.apply?.(event)
      }
    } catch {
      // It is refused by now: the reading says why.
    }
    if (signal.aborted) return
    // The conversation is read no longer, or by a participant: then its visitors leave. Else it is followed again.
    load()
    await pause(backoff.next(), signal)
  }
}
