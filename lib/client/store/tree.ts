import type { Message } from '../../api/messages.ts'
import { undefinedIfGone } from '../backoff.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { withText } from './answers.ts'
import { foldThread, isBelow, type ThreadData } from './fold-thread.ts'
import type { PlanBody } from './later.ts'
import type { StoreClient } from './types.ts'

/** How many messages are read at once. */
const PAGE = 200

// As `EMPTY_THREAD`, which pages have that do not load this file: an import of that would be a circle.
const NOTHING: ThreadData = { messages: [], detached: [], chunks: new Map() }

/** How a thread is read, page by page, and folded: an answer in progress is read with its chunks. */
export function treeOf(client: StoreClient, root_id: string, userId: () => string): PlanBody<ThreadData> {
  return {
    async read(current, isMore, from) {
      const count = current.messages.length + (isMore ? 1 : 0)
      let data = from.next_cursor ? { ...from, detached: [] } : NOTHING
      do data = await readPage(client, root_id, data)
      while (data.next_cursor !== undefined && data.messages.length < count)
      return withDetached(client, data, current.detached, from.messages.length === 0)
    },
    fold(data, event) {
      const { type, payload } = event
      if (type === 'thread.updated' && payload.root_id === root_id) return { ...data, title: payload.title }
      // Its title comes back with it.
      const isRestored = type === 'message.restored' && payload.message.id === root_id
      return isRestored || isEndOf(data, event) ? 'stale' : foldThread(data, root_id, event, userId())
    },
  }
}

/**
 * The thread with the detached messages of before that are still below it.
 *
 * @param isDoubtful whether they may have changed since
 */
async function withDetached(
  client: StoreClient,
  data: ThreadData,
  before: readonly Message[],
  isDoubtful: boolean,
): Promise<ThreadData> {
  const below = before.filter((message) => isBelow(data, message))
  if (below.length === 0 || !isDoubtful) return { ...data, detached: below }
  const read = await Promise.all(below.map(({ id }) => client.messages.get(id).catch(undefinedIfGone)))
  const { messages, chunks } = await withText(
    client,
    read.filter((message) => message !== undefined),
  )
  return { ...data, detached: messages, chunks: new Map([...data.chunks, ...chunks]) }
}

/** The thread with its next page. */
async function readPage(client: StoreClient, root_id: string, current: ThreadData): Promise<ThreadData> {
  const { next_cursor: cursor_path } = current
  const page = await client.threads.tree(root_id, { limit: PAGE, cursor_path })
  const { messages, chunks } = await withText(client, page.messages)
  return {
    messages: [...current.messages, ...messages],
    detached: [],
    chunks: new Map([...current.chunks, ...chunks]),
    title: page.title,
    next_cursor: page.next_cursor,
  }
}

/** Whether the conversation of the thread may be gone for this user. */
function isEndOf({ messages }: ThreadData, event: ConversationStreamEvent): boolean {
  if (event.type !== 'membership.changed' || event.payload.action !== 'removed') return false
  return event.payload.conversation_id === messages[0]?.conversation_id
}
