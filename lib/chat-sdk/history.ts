import type { FetchOptions, FetchResult, ListThreadsOptions, ListThreadsResult, Message } from 'chat'
import type { Message as ApiMessage } from '../api/client-entities.ts'
import { undefinedIfGone } from '../client/backoff.ts'
import type { ChatClient } from '../client/types.ts'
import { MAX_PEOPLE } from './directory.ts'
import type { ChatServerThreadId } from './thread-ids.ts'

type ReadMessages = (raw: readonly ApiMessage[]) => Promise<Message<ApiMessage>[]>

/** A page of messages, oldest first. */
interface Page {
  messages: ApiMessage[]
  next_before?: string
  next_after?: string
}

const DEFAULT_LIMIT = 50

/** The service has no larger pages. */
const MAX_PAGE = 200

/** Each root of a list of threads is read by a call of its own. */
const MAX_THREADS = 20

/** A page of a thread, with its root, or of the roots of a conversation. */
export async function fetchPage(
  client: ChatClient,
  readMessages: ReadMessages,
  { conversation_id, root_id }: ChatServerThreadId,
  { cursor, direction = 'backward', limit = DEFAULT_LIMIT }: FetchOptions = {},
): Promise<FetchResult<ApiMessage>> {
  const isForward = direction === 'forward'
  const query = { limit: Math.min(limit, MAX_PEOPLE), ...(cursor !== undefined && placeOf(isForward, cursor)) }
  const page =
    root_id === undefined
      ? await pageOfRoots(client, conversation_id, query, isForward && cursor === undefined)
      : await pageOfThread(client, root_id, query, isForward)
  const nextCursor = isForward ? page.next_after : page.next_before
  const messages = await readMessages(page.messages.filter(({ deleted_at }) => deleted_at === undefined))
  return { messages, ...(nextCursor !== undefined && { nextCursor }) }
}

function placeOf(isForward: boolean, cursor: string): { after: string } | { before: string } {
  return isForward ? { after: cursor } : { before: cursor }
}

async function pageOfThread(
  client: ChatClient,
  root_id: string,
  query: { limit: number; after?: string; before?: string },
  isForward: boolean,
): Promise<Page> {
  const isFirst = isForward && query.after === undefined
  // The id of the root stands before all replies.
  const page = await client.threads.messages(root_id, isFirst ? { ...query, after: root_id } : query)
  const hasRoot = isForward ? isFirst : page.next_before === undefined
  return hasRoot ? { ...page, messages: [page.root, ...page.messages] } : page
}

/** @param isFirst the oldest ones, before which there is no place: pages are read back to it, the largest there are */
async function pageOfRoots(
  client: ChatClient,
  conversation_id: string,
  query: { limit: number; after?: string; before?: string },
  isFirst: boolean,
): Promise<Page> {
  const list = (place: object) => client.messages.list(conversation_id, { ...query, view: 'roots', ...place })
  if (!isFirst) return list({})
  let page: Page = await list({ limit: MAX_PAGE })
  while (page.next_before !== undefined) page = await list({ limit: MAX_PAGE, before: page.next_before })
  const messages = page.messages.slice(0, query.limit)
  const isCut = messages.length < page.messages.length
  return {
    messages,
    ...(isCut ? { next_after: messages.at(-1)!.id } : page.next_after && { next_after: page.next_after }),
  }
}

/** The threads of a conversation, latest activity first. */
export async function listThreads(
  client: ChatClient,
  readMessages: ReadMessages,
  conversation_id: string,
  { cursor, limit = MAX_THREADS }: ListThreadsOptions = {},
): Promise<ListThreadsResult<ApiMessage>> {
  const after = cursor === undefined ? {} : { after: cursor }
  const page = await client.threads.list(conversation_id, { limit: Math.min(limit, MAX_THREADS), ...after })
  // One may be removed meanwhile, and a deleted one has no text.
  const found = await Promise.all(
    page.threads.map(({ root_id }) => client.messages.get(root_id).catch(undefinedIfGone)),
  )
  const roots = await readMessages(found.flatMap((root) => (root && root.deleted_at === undefined ? root : [])))
  const byId = new Map(roots.map((root) => [root.id, root]))
  const threads = page.threads.flatMap(({ root_id, message_count, last_reply_at }) => {
    const rootMessage = byId.get(root_id)
    if (!rootMessage) return []
    const lastReply = last_reply_at === undefined ? {} : { lastReplyAt: new Date(last_reply_at) }
    return { id: rootMessage.threadId, rootMessage, replyCount: Math.max(0, message_count - 1), ...lastReply }
  })
  return { threads, ...(page.next_after !== undefined && { nextCursor: page.next_after }) }
}
