import type { Message } from '../../api/messages.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { foldThread, isBelow, type ThreadData } from './fold-thread.ts'
import { toQuote } from './quotes.ts'
import type { Plan } from './resource.ts'
import type { PendingPost, StoreClient, StoreMessage, ThreadView } from './types.ts'

/** How many messages are read at once. */
const PAGE = 200

/** How many chunks of an answer are read at once. */
const CHUNKS = 1_000

const NOTHING: ThreadData = { messages: [], detached: [], chunks: new Map() }

/**
 * A thread: read page by page, then folded; an answer in progress is read with its chunks. What arrives below the pages
 * that were read stays at the end until its page is read.
 */
export function threadPlan(
  client: StoreClient,
  root_id: string,
  userId: () => string,
  pendingOf: () => readonly PendingPost[],
): Plan<ThreadData, ThreadView> {
  return {
    initial: NOTHING,
    async read(current, isMore, from) {
      const count = current.messages.length + (isMore ? 1 : 0)
      let data = from.next_cursor ? { ...from, detached: [] } : NOTHING
      do data = await readPage(client, root_id, data)
      while (data.next_cursor !== undefined && data.messages.length < count)
      return withDetached(client, data, current.detached, from === NOTHING)
    },
    fold(data, event) {
      return isEndOf(data, event) ? 'stale' : foldThread(data, root_id, event, userId())
    },
    view: ({ messages, detached, next_cursor }, loading) => {
      const shown = detached.length === 0 ? messages : [...messages, ...detached.map(toDetached)]
      return { ...loading, messages: withPending(shown, pendingOf(), userId()), has_more: next_cursor !== undefined }
    },
  }
}

const toDetached = (message: Message): StoreMessage => ({ ...message, detached: true })

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
  const read = await Promise.all(below.map(({ id }) => client.messages.get(id).catch(noneIfGone)))
  const { messages, chunks } = await withText(client, read.flat())
  return { ...data, detached: messages, chunks: new Map([...data.chunks, ...chunks]) }
}

function noneIfGone(error: unknown): never[] {
  if ((error as { code?: string }).code === 'not_found') return []
  throw error
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
    next_cursor: page.next_cursor,
  }
}

/** The messages with the texts so far of answers in progress, and the chunks of these. */
async function withText(client: StoreClient, messages: readonly Message[]) {
  const chunks = new Map<string, readonly string[]>()
  const complete = messages.map(async (message) => {
    if (message.status !== 'streaming' || message.deleted_at) return message
    const read = await readChunks(client, message.id)
    chunks.set(message.id, read)
    return { ...message, content: read.join('') }
  })
  return { messages: await Promise.all(complete), chunks }
}

async function readChunks(client: StoreClient, message_id: string): Promise<string[]> {
  const contents: string[] = []
  for (;;) {
    const page = await client.answers.listChunks(message_id, { from: contents.length, limit: CHUNKS })
    for (const { idx, content } of page) contents[idx] = content
    if (page.length === 0) return contents
  }
}

/** Whether the conversation of the thread may be gone for this user. */
function isEndOf({ messages }: ThreadData, event: ConversationStreamEvent): boolean {
  if (event.type !== 'membership.changed' || event.payload.action !== 'removed') return false
  return event.payload.conversation_id === messages[0]?.conversation_id
}

/** Each post that is not stored yet after the last message below the one it answers. */
function withPending(messages: readonly StoreMessage[], pending: readonly PendingPost[], user_id: string) {
  if (pending.length === 0) return messages
  const all = [...messages]
  for (const post of pending) {
    const parent = all.find(({ id }) => id === post.parent_id)
    const last = parent ? all.findLastIndex(({ path }) => path.startsWith(parent.path)) : all.length - 1
    const quoted = all.find(({ id }) => id === post.quote_id)
    all.splice(last + 1, 0, toMessage(post, { parent, quoted }, user_id))
  }
  return all
}

function toMessage(
  post: PendingPost,
  { parent, quoted }: { parent: StoreMessage | undefined; quoted: StoreMessage | undefined },
  user_id: string,
): StoreMessage {
  const { key, conversation_id, role, content, created_at, attachments } = post
  return {
    id: key,
    conversation_id,
    root_id: post.root_id ?? key,
    ...(post.parent_id !== undefined && { parent_id: post.parent_id }),
    role,
    ...(role === 'user'
      ? { content, author_user_id: user_id }
      : { content: '', prompt: content, requested_by: user_id }),
    path: parent?.path ?? '',
    depth: (parent?.depth ?? -1) + 1,
    status: role === 'user' ? 'complete' : 'streaming',
    created_at,
    ...(attachments && { attachments }),
    ...(quoted && { quote: toQuote(quoted) }),
    pending: post,
  }
}
