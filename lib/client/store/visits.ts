import { createBackoff, pause } from '../backoff.ts'
import type { Follower } from './feed.ts'
import type { StoreClient } from './types.ts'

/** The open stream of a conversation. */
interface Visit {
  visitors: Set<Follower>
  ending: AbortController
}

/** Where the events of visits go, and for which user. */
interface Target {
  followers: ReadonlySet<Follower>
  userId(): string
}

/** The visits of each store, known by the set of its followers, by conversation. */
const visitsOf = new WeakMap<ReadonlySet<Follower>, Map<string, Visit>>()

/**
 * Follows the own stream of a conversation: one for all its visitors, which read again when it begins, as they have missed
 * what came before, and when it ends. Its events are for all followers that show more than the user's own conversations, until
 * the user joins: from that event on, the stream of all conversations has them.
 *
 * @returns a function that leaves; with the last visitor the stream ends
 */
export function visit(client: StoreClient, id: string, visitor: Follower, to: Target): () => void {
  const { followers } = to
  const visits = visitsOf.get(followers) ?? new Map<string, Visit>()
  visitsOf.set(followers, visits)
  const known = visits.get(id)
  const { visitors, ending } = known ?? { visitors: new Set(), ending: new AbortController() }
  visitors.add(visitor)
  if (known) visitor.load?.()
  else {
    visits.set(id, { visitors, ending })
    void follow(client, id, { visitors, ending }, to)
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
  { followers, userId }: Target,
): Promise<void> {
  const load = () => {
    for (const visitor of [...visitors]) visitor.load?.()
  }
  const backoff = createBackoff()
  while (!signal.aborted) {
    let isJoined = false
    try {
      for await (const { event } of client.events.follow(id, { signal })) {
        if (event.type === 'stream.ready') {
          backoff.opened()
          if (event.payload.resumed) continue
          isJoined = false
          load()
        } else if (event.type !== 'stream.reset' && event.type !== 'stream.closed') {
          const { type, payload } = event
          const isAboutUser = type === 'membership.changed' && payload.user_id === userId()
          if (!isJoined || isAboutUser) for (const each of [...followers]) if (!each.isOwn) each.apply?.(event)
          if (isAboutUser) isJoined = payload.action !== 'removed'
        }
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
