import type { ThreadSummary } from '../../api/threads.ts'
import { partOf, type StoreBase } from './base.ts'
import type { FollowedData } from './followed-threads.ts'
import type { ChatStore, ReadableList } from './index.ts'
import { laterPlan } from './later.ts'
import type { Loading } from './resource.ts'

/** The threads with a reply that the user follows, over all conversations, latest activity first. */
export interface FollowedThreadsView extends Loading {
  threads: readonly ThreadSummary[]
  /** How many of all of them have an unread reply that arrived since the user follows them. */
  unread: number
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** The threads that the user follows: the same list at each call. */
export function followedThreadsOf(store: ChatStore): ReadableList<FollowedThreadsView> {
  return partOf(store, createFollowed)
}

function createFollowed({ client, feed, resources }: StoreBase): ReadableList<FollowedThreadsView> {
  const plan = laterPlan<FollowedData, FollowedThreadsView>({
    initial: { items: [], unread: 0, others: new Set() },
    isEphemeral: true,
    isOwn: true,
    load: async () => (await import('./followed-threads.ts')).followedThreads(client, feed.userId),
    view: ({ items, unread, next_after }, loading) => ({
      ...loading,
      threads: items,
      unread,
      has_more: next_after !== undefined,
    }),
  })
  return resources(() => plan).get('')
}
