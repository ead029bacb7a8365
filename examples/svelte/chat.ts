// The store of chat-server in Svelte 5: `const conversations = fromReadable(store.conversations)`, then `conversations.current`.
import type { Readable } from 'chat-server/client/store'
import { createSubscriber } from 'svelte/reactivity'

/** A part of the store whose `current` is reactive. On a server it stays as it is before anything is read. */
export function fromReadable<T>(part: Readable<T>): { readonly current: T } {
  const subscribe = createSubscriber((update) => part.subscribe(update))
  return {
    get current() {
      subscribe()
      return part.getSnapshot()
    },
  }
}
