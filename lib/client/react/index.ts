import { useMemo } from 'react'
import type {
  Attachment,
  CancelledAnswer,
  ConversationSettings,
  OpenedConversation,
  PostedMessage,
} from '../../api/client-entities.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { refuseUnknown } from '../options.ts'
import type {
  Connection,
  ConversationSettingsView,
  ConversationsView,
  DirectoryView,
  MeView,
  Partner,
  Section,
  SettingsChange,
  StoreMessage,
  ThreadsView,
  ThreadView,
} from '../store/index.ts'
import {
  type FollowedThreadsView,
  followedThreadsOf,
  inboxOf,
  type NotificationMark,
  type NotificationsFilter,
  type NotificationsView,
  type PinsView,
  type PresenceView,
  peopleOf,
  pinsOf,
  presenceOf,
  type ReadersView,
  receiptsOf,
  type ThreadReadersView,
  type Typist,
  type UserView,
} from '../store/parts.ts'
import { useChatStore } from './context.ts'
import { type ListActions, useList, useReloadable } from './lists.ts'
import { useReadable } from './readable.ts'
import type { WindowPostOptions } from './windows.ts'

export { useAssistantChat } from './assistant-chat.ts'
export { useCan } from './can.ts'
export { type CommandActions, useCommands, useNotices } from './commands.ts'
export { ChatProvider, type ChatProviderProps, useChatStore } from './context.ts'
export type { ListActions } from './lists.ts'
export { type FoundMessages, useSearch } from './search.ts'
export { useSeen } from './seen.ts'
export { type FileUploads, useUpload } from './uploads.ts'
export { useConversation, useReplies, type WindowActions, type WindowPostOptions } from './windows.ts'

/** What a user does with the list of conversations. */
export interface ConversationsActions {
  /** Opens the direct conversation with a user. @throws ChatError as `client.conversations.direct` */
  openDirect: (partner: Partner) => Promise<OpenedConversation>
  /** Marks everything in all conversations as read. @throws ChatError as `client.conversations.markAllRead` */
  markAllRead: () => Promise<void>
}

/** What a user does with the settings for a conversation. */
export interface ConversationSettingsActions {
  /** Changes these; others keep their value. @throws ChatError as `client.conversations.setSettings` */
  setSettings: (change: SettingsChange) => Promise<ConversationSettings>
  /** Reads them again. */
  reload: () => Promise<void>
}

/** What a reader does with a thread. */
export interface ThreadActions {
  /** Marks all of it as read. @throws ChatError as `client.threads.markRead` */
  markRead: () => Promise<void>
  /** Marks it as unread from a message on. @throws ChatError as `client.threads.markUnread` */
  markUnread: (message_id: string) => Promise<void>
}

/** What a reader does with the inbox. */
export interface InboxActions {
  /**
   * Marks notifications as read, by their `ids` or `up_to` one, and shows them so at once.
   *
   * @throws ChatError as `client.notifications.markRead`; then they are shown as before
   */
  markRead: (mark: NotificationMark) => Promise<void>
}

/** What a post has besides its text. */
export interface PostOptions {
  /** The message that is answered. Default: the first of the thread. */
  parent_id?: string
  /** Files that were uploaded before; with one, the text may be empty. */
  attachments?: Attachment[]
  /** A message of the conversation that it quotes. */
  quote_id?: string
  /** An answer with the same parent, of which a question asks for a variant. */
  variant_of?: string
}

/** The messages of a thread, and what a user does in it. */
export interface ThreadMessages {
  /** Depth first; those with `pending` are not stored yet. */
  messages: readonly StoreMessage[]
  /**
   * Replies to a message, by default to the first, and shows the reply at once.
   *
   * @returns the stored post, or `undefined` after a failure: then the message stays, with `pending.status: 'failed'`
   * @throws Error before the thread is read
   */
  reply: (content: string, options?: PostOptions) => Promise<PostedMessage | undefined>
  /** Sends a failed post again. @param key `message.pending.key` */
  retry: (key: string) => Promise<PostedMessage | undefined>
  /** Removes a failed post. @param key `message.pending.key` */
  discard: (key: string) => void
  /** Adds or removes the user's reaction. @throws ChatError as `client.reactions.add` and `remove` */
  react: (message_id: string, emoji: string) => Promise<void>
  unreact: (message_id: string, emoji: string) => Promise<void>
  /** Pins a message, or unpins it. @throws ChatError as `client.pins.add` and `remove` */
  pin: (message_id: string) => Promise<void>
  unpin: (message_id: string) => Promise<void>
}

/** The answers of the assistant in a thread. */
export interface ThreadAssistant {
  /** Answers in progress; `content` grows. */
  answers: readonly StoreMessage[]
  /** Asks below a message, by default the first. @returns and @throws as `reply` of {@link ThreadMessages} */
  ask: (content: string, options?: PostOptions) => Promise<PostedMessage | undefined>
  /** Stops an answer; the text so far is kept. @throws ChatError `not_found`, `forbidden` */
  cancel: (message_id: string) => Promise<CancelledAnswer>
}

/** The user's conversations, latest activity first: those that are not archived, of these a section, or those that are. */
export function useConversations(
  options: { archived?: boolean; section?: Section } = {},
): ConversationsView & ListActions & ConversationsActions {
  refuseUnknown('useConversations', options, { archived: 0, section: 0 })
  const { conversations, archived, openDirect, markAllRead } = useChatStore()
  const { section } = options
  const list = useList(options.archived ? archived : section ? conversations({ section }) : conversations)
  return useMemo(() => ({ ...list, openDirect, markAllRead }), [list, openDirect, markAllRead])
}

/** The public rooms by title; with a query, those whose titles fit it. */
export function useDirectory(options: { query?: string | undefined } = {}): DirectoryView & ListActions {
  return useList(useChatStore().directory(options))
}

/** The user's own settings for a conversation. */
export function useConversationSettings(
  conversation_id: string,
): ConversationSettingsView & ConversationSettingsActions {
  const store = useChatStore()
  const settings = useReloadable(store.settings(conversation_id))
  return useMemo(
    () => ({ ...settings, setSettings: (change) => store.setSettings(conversation_id, change) }),
    [store, settings, conversation_id],
  )
}

/** Posts the first message of a thread. */
export type StartThread = (
  content: string,
  options?: Pick<WindowPostOptions, 'title' | 'attachments' | 'quote_id'>,
) => Promise<PostedMessage | undefined>

/** The threads of a conversation, latest activity first; `pending` has those that are not stored yet. */
export function useThreads(conversation_id: string): ThreadsView & ListActions & { start: StartThread } {
  const store = useChatStore()
  const list = useList(store.threads(conversation_id))
  return useMemo(
    () => ({
      ...list,
      start: (content, options) => store.post({ ...options, conversation_id, content }),
    }),
    [store, list, conversation_id],
  )
}

/** The threads that the user follows, over all conversations, and how many of them have unread replies. */
export function useFollowedThreads(): FollowedThreadsView & ListActions {
  return useList(followedThreadsOf(useChatStore()))
}

/** A thread, depth first, and the state of its loading. */
export function useThread(root_id: string): ThreadView & ListActions & ThreadActions {
  const store = useChatStore()
  const list = useList(store.thread(root_id))
  return useMemo(
    () => ({
      ...list,
      markRead: () => store.markRead(root_id),
      markUnread: (message_id) => store.markUnread(root_id, message_id),
    }),
    [store, list, root_id],
  )
}

/** The messages of a thread, with posts that are shown before they are stored. */
export function useMessages(root_id: string): ThreadMessages {
  const store = useChatStore()
  const { messages } = useReadable(store.thread(root_id))
  const post = usePost(root_id, 'user')
  return useMemo(() => {
    const { retry, discard, react, unreact, pin, unpin } = store
    return { messages, reply: post, retry, discard, react, unreact, pin, unpin }
  }, [store, messages, post])
}

/** The pinned messages of a conversation, latest first. */
export function usePins(conversation_id: string): PinsView & ListActions {
  return useList(pinsOf(useChatStore()).list(conversation_id))
}

/** Questions to the assistant in a thread, and its answers in progress. */
export function useAssistant(root_id: string): ThreadAssistant {
  const store = useChatStore()
  const { messages } = useReadable(store.thread(root_id))
  const ask = usePost(root_id, 'assistant')
  return useMemo(() => {
    const answers = messages.filter((message) => isUnderWay(message) && message.deleted_at === undefined)
    return { answers, ask, cancel: store.cancelAnswer }
  }, [store, messages, ask])
}

/** The other users who are typing in a conversation, and a function to call at every key of this one. */
export function useTyping(conversation_id: string): {
  typists: readonly Typist[]
  sendTyping: (root_id?: string) => void
} {
  const { typing, sendTyping } = presenceOf(useChatStore())
  const typists = useReadable(typing(conversation_id))
  return useMemo(
    () => ({ typists, sendTyping: (root_id?: string) => sendTyping(conversation_id, root_id) }),
    [sendTyping, typists, conversation_id],
  )
}

/** The presence of users by their id. The list may be another array at every render. */
export function usePresence(user_ids: readonly string[]): PresenceView {
  return useReadable(presenceOf(useChatStore()).presence(user_ids))
}

/** The number of unread messages in the conversations that {@link useConversations} has. */
export function useUnread(): number {
  return useReadable(useChatStore().unread)
}

/** The number of unread notifications in the inbox of the user, whether or not it is shown. */
export function useUnreadNotifications(): number {
  return useReadable(useChatStore().unreadNotifications)
}

/** Notifications of the user, newest first, and what the user does with them. The filter may be another object at every render. */
export function useNotifications(filter?: NotificationsFilter): NotificationsView & ListActions & InboxActions {
  const { notifications, markRead } = inboxOf(useChatStore())
  const list = useList(notifications(filter))
  return useMemo(() => ({ ...list, markRead }), [list, markRead])
}

/** The users who have read a message; `is_off` if the user sees no receipts there. */
export function useReaders(message_id: string): ReadersView & ListActions {
  return useList(receiptsOf(useChatStore()).readers(message_id))
}

/** The read markers in a thread, latest first; `is_off` as in {@link useReaders}. */
export function useThreadReaders(root_id: string): ThreadReadersView & { reload: () => Promise<void> } {
  return useReloadable(receiptsOf(useChatStore()).threadReaders(root_id))
}

/** The user of the page. */
export function useMe(): MeView {
  return useReadable(useChatStore().me)
}

/** A user that is visible to the user of the page, such as the author of a message. */
export function useUser(id: string): UserView {
  return useReadable(peopleOf(useChatStore()).user(id))
}

/** Whether the page is connected. */
export function useConnection(): Connection {
  return useReadable(useChatStore().connection)
}

function usePost(root_id: string, role: 'user' | 'assistant') {
  const store = useChatStore()
  return useMemo(
    () =>
      async (content: string, { parent_id = root_id, ...more }: PostOptions = {}) => {
        const [root] = store.thread(root_id).getSnapshot().messages
        if (!root) throw new Error('The thread is not read yet: reply when its status is "ready"')
        return store.post({ conversation_id: root.conversation_id, root_id, parent_id, content, role, ...more })
      },
    [store, root_id, role],
  )
}
