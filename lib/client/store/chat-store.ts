import type {
  CancelledAnswer,
  ConversationSettings,
  OpenedConversation,
  PostedMessage,
} from '../../api/client-entities.ts'
import type { Snapshot } from '../../api/snapshots-use-cases.ts'
import type { StoreBase } from './base.ts'
import type { Readable } from './cell.ts'
import type { Connection, MeView } from './feed.ts'
import type {
  ConversationSettingsView,
  ConversationsView,
  DirectoryView,
  NewPost,
  Partner,
  Section,
  SettingsChange,
  ThreadsView,
  ThreadView,
} from './types.ts'
import type { ConversationOptions, MessageWindow } from './windows.ts'

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
  /** The public rooms by title; with a query, those whose titles fit it. */
  directory(options?: { query?: string | undefined }): ReadableList<DirectoryView>
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
