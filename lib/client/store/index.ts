import type { ConversationSummary, Message } from '../../api/client-entities.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { refuseUnknown } from '../options.ts'
import type { ConversationStreamEvent } from '../types.ts'
import type { StoreBase } from './base.ts'
import { createCache } from './cache.ts'
import type { Readable } from './cell.ts'
import type { ChatStore, ChatStoreOptions, ReadableList } from './chat-store.ts'
import { type ConversationsId, conversationsPlan, settingsPlan } from './conversations.ts'
import { directoryPlan } from './directory.ts'
import { createFeed, type Feed } from './feed.ts'
import { createOutbox } from './outbox.ts'
import { createResource } from './resource.ts'
import { type Seeds, seedsOf } from './snapshot.ts'
import { threadPlan } from './thread.ts'
import { threadsPlan } from './threads.ts'
import type { ConversationsView, Partner, PendingPost, Section, SettingsChange, StoreClient } from './types.ts'
import { createWindows } from './windows.ts'

export type { Readable } from './cell.ts'
export type { ChatStore, ChatStoreOptions, ConversationLists, ReadableList, Reloadable } from './chat-store.ts'
export type { Connection, MeView } from './feed.ts'
export type { Loading } from './resource.ts'
export type {
  ConversationSettingsView,
  ConversationsView,
  DirectoryView,
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

const STORE_OPTIONS: NamesOf<ChatStoreOptions> = { refresh_ms: 0, initial: 0 }

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
    threads.peek(message.root_id)?.expect(event)
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
  const directories = resources((query) => directoryPlan(client, query))
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
    directory(options = {}) {
      refuseUnknown('store.directory', options, { query: 0 })
      return directories.get(options.query ?? '')
    },
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
