import type { NamesOf } from '../../core/known-names.ts'
import { refuseUnknown } from '../options.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore } from './index.ts'
import type { SeenWatches } from './seen-watches.ts'
import type { TimelineStoreMessage } from './types.ts'

/** Where a message is shown: that is what its mark reads. */
export interface SeenOptions {
  /**
   * `roots` marks the first messages of threads up to this one, `all` all messages, `replies` those of its thread. Default:
   * `roots`, for a reply `replies`.
   */
  view?: 'roots' | 'all' | 'replies'
}

export const SEEN_OPTIONS: NamesOf<SeenOptions> = { view: 0 }

/** Marks messages as read that the user has seen. */
export interface StoreSeen {
  /**
   * Watches a message of a window: when its end was in view for half a second, while the user was at the page, everything
   * up to it is read. Called again for the same element, it takes the message as it is now.
   *
   * @returns a function that ends it
   */
  observe(element: Element, message: TimelineStoreMessage, options?: SeenOptions): () => void
}

/** The watched messages of a store: the same at each call. */
export function seenOf(store: ChatStore): StoreSeen {
  return partOf(store, createSeen)
}

/** What waits for the watches to be loaded. */
interface Waiting {
  message: TimelineStoreMessage
  options: SeenOptions
}

function createSeen(base: StoreBase): StoreSeen {
  const waiting = new Map<Element, Waiting>()
  let watches: SeenWatches | undefined

  /** After a failure, the next message tries again. */
  async function load(): Promise<void> {
    try {
      watches = (await import('./seen-watches.ts')).createWatches(base)
      for (const [element, { message, options }] of waiting) watches.add(element, message, options)
    } catch {
      // A page that is offline: its messages stay unread.
    }
    waiting.clear()
  }

  return {
    observe(element, message, options = {}) {
      refuseUnknown('observe', options, SEEN_OPTIONS)
      if (typeof IntersectionObserver === 'undefined') return () => {}
      if (watches) watches.add(element, message, options)
      else {
        if (waiting.size === 0) void load()
        waiting.set(element, { message, options })
      }
      return () => {
        watches?.remove(element, message)
        if (waiting.get(element)?.message.id === message.id) waiting.delete(element)
      }
    },
  }
}
