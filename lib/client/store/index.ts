import type { CancelledAnswer, PostedMessage } from '../../api/client-entities.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { createCache } from './cache.ts'
import type { Readable } from './cell.ts'
import { type Connection, createFeed } from './feed.ts'
import { foldThread } from './fold-thread.ts'
import { conversationsPlan, threadsPlan } from './lists.ts'
import { createOutbox } from './outbox.ts'
import { createTyping, createTypingSender, type PresenceView, presencePlan } from './people.ts'
import { pinsPlan } from './pins.ts'
import { createResource } from './resource.ts'
import { threadPlan } from './thread.ts'
import type {
  ConversationsView,
  NewPost,
  PendingPost,
  PinsView,
  StoreClient,
  ThreadsView,
  ThreadView,
  Typist,
} from './types.ts'

export type { Readable } from './cell.ts'
export type { Connection } from './feed.ts'
export type { PresenceView } from './people.ts'
export type { Loading } from './resource.ts'
export type {
  ConversationsView,
  NewPost,
  PendingPost,
  PinsView,
  StoreClient,
  StoreMessage,
  ThreadsView,
  ThreadView,
  Typist,
} from './types.ts'

/** The time between two readings of a list because of events that do not contain the change. */
const REFRESH_MS = 500

/** The options of a store. */
export interface ChatStoreOptions {
  /** The shortest time between two readings of a list because of events, in milliseconds. Default: 500. */
  refresh_ms?: number
}

/** A list that is read in pages: `reload` reads what it has again, `loadMore` also the next page. */
export interface ReadableList<View> extends Readable<View> {
  reload: () => Promise<void>
  loadMore: () => Promise<void>
}

/**
 * The state of a page: what was read, kept current by one event stream. Each part is read when it gets its first
 * subscriber and follows the stream until a second after it has lost the last one. Without subscribers, nothing is sent.
 *
 * Snapshots are immutable, and the same object until something changes in them.
 */
export interface ChatStore {
  /** Whether the stream is open. It reconnects by itself; after `ended` call `restart`. */
  connection: Readable<Connection>
  conversations: ReadableList<ConversationsView>
  /** The unread messages in all conversations that `conversations` has. */
  unread: Readable<number>
  threads(conversation_id: string): ReadableList<ThreadsView>
  thread(root_id: string): ReadableList<ThreadView>
  /** The pinned messages of a conversation, latest first. */
  pins(conversation_id: string): ReadableList<PinsView>
  /** The other users who are typing in a conversation. */
  typing(conversation_id: string): Readable<readonly Typist[]>
  /** The presence of users who share a conversation with the user. */
  presence(user_ids: readonly string[]): Readable<PresenceView>
  /**
   * Posts a reply, or a new thread, and shows it at once. It is sent with an `Idempotency-Key`, after earlier posts of its
   * conversation. A failed post stays in the view until it is retried or discarded; if the service was not reached, it is
   * retried when the stream is back.
   *
   * @returns the stored post, or `undefined` after a failure
   * @throws RangeError when 200 posts wait already
   */
  post(post: NewPost): Promise<PostedMessage | undefined>
  /** Sends a failed post again, with the same key. @returns as `post` */
  retry(key: string): Promise<PostedMessage | undefined>
  /** Forgets a failed post. */
  discard(key: string): void
  /** Reports that the user is typing, every three seconds at most. */
  sendTyping(conversation_id: string, root_id?: string): void
  /** Marks a thread as read. @throws ChatError as `client.threads.markRead` */
  markRead(root_id: string): Promise<void>
  /** Marks a thread as unread from a message on. @throws ChatError as `client.threads.markUnread` */
  markUnread(root_id: string, message_id: string): Promise<void>
  /** Adds the user's reaction to a message. @throws ChatError as `client.reactions.add` */
  react(message_id: string, emoji: string): Promise<void>
  /** Removes the user's reaction to a message. @throws ChatError as `client.reactions.remove` */
  unreact(message_id: string, emoji: string): Promise<void>
  /** Pins a message in its conversation. @throws ChatError as `client.pins.add` */
  pin(message_id: string): Promise<void>
  /** Unpins a message. @throws ChatError as `client.pins.remove` */
  unpin(message_id: string): Promise<void>
  /** Stops an answer of the assistant; the text so far is kept. @throws ChatError as `client.answers.cancel` */
  cancelAnswer(message_id: string): Promise<CancelledAnswer>
  /** Begins anew, after a sign-in. Posts of the former user that were not stored are forgotten. */
  restart(): void
  /** Closes the stream. Subscribers keep what they have. */
  close(): void
}

/**
 * A store on a client. Keep one for a page: it has one stream, however many parts are shown.
 *
 * @example
 * const store = createChatStore(createChatClient({ base_url: '/chat' }))
 * const stop = store.conversations.subscribe(() => render(store.conversations.getSnapshot()))
 */
export function createChatStore(client: StoreClient, { refresh_ms = REFRESH_MS }: ChatStoreOptions = {}): ChatStore {
  const outbox = createOutbox(client, showPost, (message) => {
    const event: ConversationStreamEvent = { type: 'message.new', payload: { message } }
    threadCache.peek(message.root_id)?.update((data) => {
      const next = foldThread(data, message.root_id, event, feed.userId())
      return next === 'stale' ? data : next
    })
  })
  const feed = createFeed(client, (event) => {
    if (event.type === 'stream.ready') outbox.resume()
    return outbox.apply(event, feed.userId())
  })
  const conversations = createResource(feed, conversationsPlan(client, feed.userId), refresh_ms)
  const threadsCache = createCache((id: string) => {
    const pending = () => outbox.list((post) => post.conversation_id === id && post.parent_id === undefined)
    return createResource(feed, threadsPlan(client, id, feed.userId, pending), refresh_ms)
  })
  const threadCache = createCache((id: string) => {
    const pending = () => outbox.list((post) => post.root_id === id)
    return createResource(feed, threadPlan(client, id, feed.userId, pending), refresh_ms)
  })
  const pinsCache = createCache((id: string) => createResource(feed, pinsPlan(client, id), refresh_ms))
  const typing = createCache((id: string) => createTyping(feed, id))
  const presence = createCache((ids: string) =>
    createResource(feed, presencePlan(client, ids === '' ? [] : ids.split(',')), refresh_ms),
  )

  function showPost({ conversation_id, root_id, parent_id }: PendingPost): void {
    if (parent_id === undefined) threadsCache.peek(conversation_id)?.update()
    else if (root_id !== undefined) threadCache.peek(root_id)?.update()
  }

  return {
    connection: feed.connection,
    conversations,
    unread: unreadOf(conversations),
    threads: threadsCache.get,
    thread: threadCache.get,
    pins: pinsCache.get,
    typing: typing.get,
    presence: (ids) => presence.get([...new Set(ids)].sort().join()),
    post: outbox.post,
    retry: outbox.retry,
    discard: outbox.discard,
    sendTyping: createTypingSender(client),
    markRead: (root_id) => client.threads.markRead(root_id),
    markUnread: (root_id, message_id) => client.threads.markUnread(root_id, { message_id }),
    ...signsOf(client),
    cancelAnswer: (message_id) => client.answers.cancel(message_id),
    restart() {
      outbox.clear()
      for (const cache of [threadsCache, threadCache, pinsCache, typing, presence]) cache.clear()
      conversations.reset()
      feed.restart()
    },
    close: feed.close,
  }
}

/** The calls for signs on messages: their events bring the result. */
function signsOf({ reactions, pins }: StoreClient): Pick<ChatStore, 'react' | 'unreact' | 'pin' | 'unpin'> {
  return {
    react: (message_id, emoji) => reactions.add(message_id, emoji),
    unreact: (message_id, emoji) => reactions.remove(message_id, emoji),
    pin: (message_id) => pins.add(message_id),
    unpin: (message_id) => pins.remove(message_id),
  }
}

function unreadOf({ getSnapshot, subscribe }: Readable<ConversationsView>): Readable<number> {
  return {
    subscribe,
    getServerSnapshot: () => 0,
    getSnapshot: () => getSnapshot().conversations.reduce((sum, { unread }) => sum + unread, 0),
  }
}
