import type { Message } from '../../api/messages.ts'
import type { ThreadData } from './fold-thread.ts'
import { laterPlan } from './later.ts'
import { withPending } from './pending.ts'
import type { Plan } from './resource.ts'
import type { PendingPost, StoreClient, StoreMessage, ThreadView } from './types.ts'

/** A thread that is not read yet. Not in `fold-thread.ts`, which is loaded with the first tree alone: this is needed before. */
export const EMPTY_THREAD: ThreadData = { messages: [], detached: [], chunks: new Map() }

/**
 * A thread as a tree, which pages load that show one. What arrives below the pages that were read stays at the end until its
 * page is read.
 */
export function threadPlan(
  client: StoreClient,
  root_id: string,
  userId: () => string,
  pendingOf: () => readonly PendingPost[],
): Plan<ThreadData, ThreadView> {
  return laterPlan({
    initial: EMPTY_THREAD,
    load: async () => (await import('./tree.ts')).treeOf(client, root_id, userId),
    view: ({ title, messages, detached, next_cursor }, loading) => {
      const shown = detached.length === 0 ? messages : [...messages, ...detached.map(toDetached)]
      const named = title && !messages[0]?.deleted_at && { title }
      return {
        ...loading,
        ...named,
        messages: withPending(shown, pendingOf(), userId()),
        has_more: next_cursor !== undefined,
      }
    },
  })
}

const toDetached = (message: Message): StoreMessage => ({ ...message, detached: true })
