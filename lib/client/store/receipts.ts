import type { ThreadReader } from '../../api/receipts.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, ReadableList, Reloadable } from './index.ts'
import { laterPlan } from './later.ts'
import type { ReadersData } from './readers.ts'
import type { Loading } from './resource.ts'

/** The read markers of users in a thread. */
export interface ThreadReadersView extends Loading {
  /** Latest first; at most 1,000. */
  readers: readonly ThreadReader[]
  /** Whether the user sees no receipts here: the service, the policy of the conversation, or the user has turned them off. */
  is_off: boolean
}

/** The users who have read a message, in the order of their ids. */
export interface ReadersView extends ThreadReadersView {
  /** Number of all of them. */
  count: number
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** Which users have read what. */
export interface StoreReceipts {
  /** The users who have read a message. */
  readers(message_id: string): ReadableList<ReadersView>
  /** The read markers in a thread. */
  threadReaders(root_id: string): Reloadable<ThreadReadersView>
}

/** The read receipts of a store: the same at each call. */
export function receiptsOf(store: ChatStore): StoreReceipts {
  return partOf(store, createReceipts)
}

const NOTHING: ReadersData = { items: [], count: 0, is_off: false }

function createReceipts({ client, resources }: StoreBase): StoreReceipts {
  // Loaded by pages that show readers.
  const readers = resources<ReadersData, ReadersView>((message_id) =>
    laterPlan({
      initial: NOTHING,
      isEphemeral: true,
      load: async () => (await import('./readers.ts')).readersOfMessage(client, message_id),
      view: ({ items, count, next_after, is_off }, loading) => ({
        ...loading,
        readers: items,
        count,
        has_more: next_after !== undefined,
        is_off,
      }),
    }),
  )
  const threadReaders = resources<ReadersData, ThreadReadersView>((root_id) =>
    laterPlan({
      initial: NOTHING,
      isEphemeral: true,
      load: async () => (await import('./readers.ts')).readersOfThread(client, root_id),
      view: ({ items, is_off }, loading) => ({ ...loading, readers: items, is_off }),
    }),
  )
  return { readers: readers.get, threadReaders: threadReaders.get }
}
