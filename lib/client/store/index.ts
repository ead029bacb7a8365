import type {
  CancelledAnswer,
  ConversationSettings,
  ConversationSummary,
  Message,
  OpenedConversation,
  PostedMessage,
} from '../../api/client-entities.ts'
import type { Snapshot } from '../../api/snapshots-use-cases.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { refuseUnknown } from '../options.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { StoreBase } from './base.ts'
import { createCache } from './cache.ts'
import type { Readable } from './cell.ts'
import { type ConversationsId, conversationsPlan, settingsPlan } from './conversations.ts'
import { type Connection, createFeed, type Feed, type MeView } from './feed.ts'
import { foldThread } from './fold-thread.ts'
import { createOutbox } from './outbox.ts'
import { createResource } from './resource.ts'
import { type Seeds, seedsOf } from './snapshot.ts'
import { threadPlan } from './thread.ts'
import { threadsPlan } from './threads.ts'
import type {
  ConversationSettingsView,
  ConversationsView,
  NewPost,
  Partner,
  PendingPost,
  Section,
  SettingsChange,
  StoreClient,
  ThreadsView,
  ThreadView,
} from './types.ts'
import { type ConversationOptions, createWindows, type MessageWindow } from './windows.ts'

export type { Readable } from './cell.ts'
export type { Connection, MeView } from './feed.ts'
export type { Loading } from './resource.ts'
export type {
  ConversationSettingsView,
  ConversationsView,
  MessagesView,
  NewPost,
  Partner,
  PendingPost,
  Section,
  SettingsChange,
  StoreClient,
  StoreMessage,
  ThreadsView,
  ThreadView,
  TimelineStoreMessage,
} from './types.ts'
export type { ConversationOptions, MessageWindow } from './windows.ts'

/** The time between two readings of a list because of events that do not contain the change. */
const REFRESH_MS = 500

/** The options of a store. */
export interface ChatStoreOptions {
  /** The shortest time between two readings of a list because of events, in milliseconds. Default: 500. */
  refresh_ms?: number
  /**
   * What the page was rendered with on the server, by `chat.snapshots.create`: it is shown until it is read again, and
   * dropped if it was another user's.
   */
  initial?: Snapshot | undefined
}

const STORE_OPTIONS: NamesOf<ChatStoreOptions> = { refresh_ms: 0, initial: 0 }

/** A part of the store that is read: `reload` reads what it has again. */
export interface Reloadable<View> extends Readable<View> {
  reload: () => Promise<void>
}

/** A list that is read in pages: `loadMore` reads the next page. */
export interface ReadableList<View> extends Reloadable<View> {
  loadMore: () => Promise<void>
}

/** The list of all conversations; called with a section, the list of that section. */
export interface ConversationLists extends ReadableList<ConversationsView> {
  (options: { section: Section }): ReadableList<ConversationsView>
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
  /** The user of the page. */
  me: Readable<MeView>
  /** The conversations that the user has not archived, latest activity first. `conversations({ section })` has those of a section. */
  conversations: ConversationLists
  /** The conversations that the user has archived. */
  archived: ReadableList<ConversationsView>
  /** The unread messages in all conversations that `conversations` has. */
  unread: Readable<number>
  /** The number of unread notifications of the user; `inboxOf` of `chat-server/client/parts` has the notifications. */
  unreadNotifications: Readable<number>
  /** The user's own settings for a conversation. */
  settings(conversation_id: string): Reloadable<ConversationSettingsView>
  threads(conversation_id: string): ReadableList<ThreadsView>
  thread(root_id: string): ReadableList<ThreadView>
  /** The messages of a conversation by arrival: the first ones of threads, or all. */
  conversation(conversation_id: string, options?: ConversationOptions): MessageWindow
  /** The replies of a thread by arrival, of all depths. */
  replies(root_id: string): MessageWindow
  /**
   * Posts a reply, or a new thread, and shows it at once. It is sent with an `Idempotency-Key`, after earlier posts of its
   * conversation. A failed post stays in the view until it is retried or discarded; if the service was not reached, it is
   * retried after 1, 4 and 15 seconds, then each minute, and when the page or the stream is online again.
   *
   * @returns the stored post, or `undefined` after a failure
   * @throws RangeError when 200 posts wait already
   */
  post(post: NewPost): Promise<PostedMessage | undefined>
  /** Sends a failed post again, with the same key. @returns as `post` */
  retry(key: string): Promise<PostedMessage | undefined>
  /** Forgets a failed post. */
  discard(key: string): void
  /** Opens the direct conversation with a user. @throws ChatError as `client.conversations.direct` */
  openDirect(partner: Partner): Promise<OpenedConversation>
  /** Changes the user's own settings for a conversation. @throws ChatError as `client.conversations.setSettings` */
  setSettings(conversation_id: string, change: SettingsChange): Promise<ConversationSettings>
  /** Marks a thread as read. @throws ChatError as `client.threads.markRead` */
  markRead(root_id: string): Promise<void>
  /** Marks everything in all conversations as read. @throws ChatError as `client.conversations.markAllRead` */
  markAllRead(): Promise<void>
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
  /** Starts again, after a sign-in. Posts of the former user that were not stored are forgotten. */
  restart(): void
  /** Closes the stream. Subscribers keep what they have. */
  close(): void
  /** @internal A part that a module of its own adds, made at the first call. */
  part<Part>(make: (base: StoreBase) => Part): Part
}

/**
 * A store on a client. Keep one for a page: it has one stream, however many parts are shown.
 *
 * @example
 * const store = createChatStore(createChatClient({ base_url: '/chat' }))
 * const stop = store.conversations.subscribe(() => render(store.conversations.getSnapshot()))
 */
export function createChatStore(client: StoreClient, options: ChatStoreOptions = {}): ChatStore {
  if (!client?.events) throw new TypeError('createChatStore needs a client: pass what createChatClient returned')
  refuseUnknown('createChatStore', options, STORE_OPTIONS)
  const { refresh_ms = REFRESH_MS, initial } = options
  // Sent when the end is read: else that could have the message beside the post.
  const showEnd = (post: PendingPost) => windows.showEnd(post)
  const outbox = createOutbox(client, showEnd, showPost, (message, { title }) => {
    const event = { type: 'message.new', payload: { message } } as const
    windows.apply(event, title)
    threads.peek(message.root_id)?.update((data) => {
      const next = foldThread(data, message.root_id, event, userId())
      return next === 'stale' ? data : next
    })
  })
  const onEvent = (event: ConversationStreamEvent) => {
    if (event.type === 'stream.ready') outbox.resume()
    return outbox.apply(event, userId())
  }
  const feed = createFeed(client, initial?.user, onEvent, () => forget())
  const { base, forget } = createBase(client, feed, refresh_ms, seedsOf(initial))
  const { resources } = base
  const { userId } = feed
  const follows = ({ conversation_id, root_id }: Message): boolean | undefined =>
    lists
      .peek(conversation_id)
      ?.getSnapshot()
      .threads.some((each) => each.root_id === root_id && each.following)
  const conversations = resources(
    (id) => conversationsPlan(client, userId, { follows, summaryOf }, id as ConversationsId),
    'conversations',
  )
  const lists = resources((id) => {
    const pending = () => outbox.list((post) => post.conversation_id === id && post.parent_id === undefined)
    return threadsPlan(client, id, userId, pending, () => !!summaryOf(id)?.direct)
  }, 'threads')
  const pendingIn = (id: string) => () => outbox.list((post) => post.root_id === id)
  const threads = resources((id) => threadPlan(client, id, userId, pendingIn(id)), 'thread')
  const [active, archived] = [conversations.get(''), conversations.get('archived')]
  const windows = createWindows(base, { userId, summaryOf }, outbox.list)
  const parts = new Map<unknown, unknown>()

  function summaryOf(id: string): ConversationSummary | undefined {
    const lists = conversations.all().filter((list) => list.isWatched())
    return lists.flatMap((list) => list.getSnapshot().conversations).find((each) => each.id === id)
  }

  function sectionList(options: { section: Section }): ReadableList<ConversationsView> {
    refuseUnknown('store.conversations', options, { section: 0 })
    return conversations.get(options.section)
  }

  function showPost(post: PendingPost): void {
    const { conversation_id, root_id, parent_id } = post
    windows.update(post)
    if (parent_id === undefined) lists.peek(conversation_id)?.update()
    else if (root_id !== undefined) threads.peek(root_id)?.update()
  }

  return {
    connection: feed.connection,
    me: feed.me,
    conversations: Object.assign(sectionList, active),
    archived,
    unread: counted(active, (view) => view.conversations.reduce((sum, { unread }) => sum + unread, 0)),
    unreadNotifications: counted(feed.inbox, ({ unread }) => unread),
    settings: resources((id) => settingsPlan(client, id)).get,
    threads: lists.get,
    thread: threads.get,
    conversation: windows.conversation,
    replies: windows.replies,
    post: outbox.post,
    retry: outbox.retry,
    discard: outbox.discard,
    ...callsOf(client),
    restart() {
      outbox.clear()
      feed.restart()
    },
    close() {
      outbox.close()
      feed.close()
    },
    part<Part>(make: (base: StoreBase) => Part) {
      if (!parts.has(make)) parts.set(make, make(base))
      return parts.get(make) as Part
    },
  }
}

/** What its parts share, and a function that forgets what those without subscribers have read. */
function createBase(
  client: StoreClient,
  feed: Feed,
  refresh_ms: number,
  seeds: Seeds,
): { base: StoreBase; forget: () => void } {
  const caches: { clear(): void }[] = []
  const resources: StoreBase['resources'] = (planOf, kind) => {
    const cache = createCache((id) => {
      const key = `${kind} ${id}`
      const seed = seeds.get(key)
      seeds.delete(key)
      return createResource(feed, planOf(id), refresh_ms, seed as never)
    })
    caches.push(cache)
    return cache
  }
  const forget = () => {
    seeds.clear()
    for (const cache of caches) cache.clear()
  }
  return { base: { client, feed, resources }, forget }
}

/** The calls whose results come with their events. */
function callsOf({ threads, reactions, pins, conversations, answers }: StoreClient) {
  return {
    markRead: (root_id: string) => threads.markRead(root_id),
    markAllRead: () => conversations.markAllRead(),
    markUnread: (root_id: string, message_id: string) => threads.markUnread(root_id, { message_id }),
    react: (message_id: string, emoji: string) => reactions.add(message_id, emoji),
    unreact: (message_id: string, emoji: string) => reactions.remove(message_id, emoji),
    pin: (message_id: string) => pins.add(message_id),
    unpin: (message_id: string) => pins.remove(message_id),
    openDirect: (partner: Partner) => conversations.direct(partner),
    setSettings: (conversation_id: string, change: SettingsChange) =>
      conversations.setSettings(conversation_id, change),
    cancelAnswer: (message_id: string) => answers.cancel(message_id),
  }
}

/** A number that a snapshot has. */
function counted<T>({ subscribe, ...part }: Readable<T>, count: (snapshot: T) => number): Readable<number> {
  const numberOf = (read: () => T) => () => count(read())
  return { subscribe, getServerSnapshot: numberOf(part.getServerSnapshot), getSnapshot: numberOf(part.getSnapshot) }
}
