import type { Notice } from '../../api/client-entities.ts'
import { partOf, type StoreBase } from './base.ts'
import type { Cache } from './cache.ts'
import type { ChatStore, Reloadable } from './index.ts'
import { laterPlan } from './later.ts'
import type { Loading, Resource } from './resource.ts'

/** The notices that programs show to the user alone in a conversation, oldest first. Each is removed when it expires. */
export interface NoticesView extends Loading {
  notices: readonly Notice[]
}

/** The notices of the user. */
export interface StoreNotices {
  /** All in a conversation, also in its threads. */
  list(conversation_id: string): Reloadable<NoticesView>
  /** Dismisses one, on all pages of the user. @throws ChatError as `client.notices.remove` */
  dismiss(notice_id: string): Promise<void>
}

/** The notices part of a store: the same at each call. */
export function noticesOf(store: ChatStore): StoreNotices {
  return partOf(store, createNotices)
}

/** What is read of the notices of a conversation. */
export type NoticesData = Pick<NoticesView, 'notices'>

function createNotices({ client, feed, resources }: StoreBase): StoreNotices {
  const list: Cache<Resource<NoticesData, NoticesView>> = resources((id) =>
    laterPlan<NoticesData, NoticesView>({
      initial: { notices: [] },
      load: async () => (await import('./live-notices.ts')).liveNotices(client, id, feed.userId, () => list.get(id)),
      view: ({ notices }, loading) => ({ ...loading, notices }),
    }),
  )
  return { list: list.get, dismiss: (notice_id) => client.notices.remove(notice_id) }
}
