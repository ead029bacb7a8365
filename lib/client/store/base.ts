import type { Cache } from './cache.ts'
import type { Feed } from './feed.ts'
import type { ChatStore } from './index.ts'
import type { Plan, Resource } from './resource.ts'
import type { StoreClient } from './types.ts'

/** A part of a store. @throws TypeError for what is no store */
export function partOf<Part>(store: ChatStore, make: (base: StoreBase) => Part): Part {
  if (!store?.part) throw new TypeError('A part needs its store: pass what createChatStore returned')
  return store.part(make)
}

/** What the parts of a store share. */
export interface StoreBase {
  client: StoreClient
  feed: Feed
  /**
   * Resources by their id, which follow the stream, and forget what they have read when the user changes.
   *
   * @param kind what a snapshot calls them, if it can have them
   */
  resources<Data extends object, View>(
    planOf: (id: string) => Plan<Data, View>,
    kind?: string,
  ): Cache<Resource<Data, View>>
}
