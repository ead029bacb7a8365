import type { Cache } from './cache.ts'
import type { Feed } from './feed.ts'
import type { Plan, Resource } from './resource.ts'
import type { StoreClient } from './types.ts'

/** What the parts of a store share. */
export interface StoreBase {
  client: StoreClient
  feed: Feed
  /** Resources by their id, which follow the stream, and forget what they have read when the user changes. */
  resources<Data extends object, View>(planOf: (id: string) => Plan<Data, View>): Cache<Resource<Data, View>>
}
