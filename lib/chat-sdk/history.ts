import type { FetchOptions, FetchResult, ListThreadsOptions, ListThreadsResult, Message } from 'chat'
import type { Message as ApiMessage } from '../api/client-entities.ts'
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

/** @param isFirst the oldest ones, before which there is no place: pages are read back to it */
async function pageOfRoots(
  client: ChatClient,
  conversation_id: string,
  query: { limit: number; after?: string; before?: string },
  isFirst: boolean,
): Promise<Page> {
  let page: Page = await client.messages.list(conversation_id, { ...query, view: 'roots' })
  while (isFirst && page.next_before !== undefined)
    page = await client.messages.list(conversation_id, { ...query, before: page.next_before, view: 'roots' })
  return page
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
  const roots = await readMessages(await Promise.all(page.threads.map(({ root_id }) => client.messages.get(root_id))))
  const threads = page.threads.map(({ message_count, last_reply_at }, index) => ({
    id: roots[index]!.threadId,
    rootMessage: roots[index]!,
    replyCount: Math.max(0, message_count - 1),
    ...(last_reply_at !== undefined && { lastReplyAt: new Date(last_reply_at) }),
  }))
  return { threads, ...(page.next_after !== undefined && { nextCursor: page.next_after }) }
}
