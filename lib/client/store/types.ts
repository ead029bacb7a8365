import type { Attachment } from '../../api/attachments.ts'
import type { ConversationSettings, ConversationSummary, PublicRoom } from '../../api/conversations.ts'
import type { Message } from '../../api/messages.ts'
import type { ThreadSummary, TimelineMessage } from '../../api/threads.ts'
import type { ChatClient } from '../types.ts'
import type { Loading } from './resource.ts'

/** The parts of a `ChatClient` that the store calls. */
export type StoreClient = Pick<
  ChatClient,
  | 'auth'
  | 'conversations'
  | 'threads'
  | 'messages'
  | 'answers'
  | 'presence'
  | 'events'
  | 'reactions'
  | 'pins'
  | 'notifications'
  | 'receipts'
  | 'users'
  | 'search'
  | 'attachments'
  | 'upload'
  | 'commands'
  | 'notices'
  | 'approvals'
>

/** A user to write to: `{ user_id }` or `{ username }`. */
export type Partner = Parameters<StoreClient['conversations']['direct']>[0]

/** Settings for a conversation; missing ones keep their value. */
export type SettingsChange = NonNullable<Parameters<StoreClient['conversations']['setSettings']>[1]>

/** A part of the user's conversations: the favourites, and of the others the direct ones, those with an assistant, and rooms. */
export type Section = NonNullable<NonNullable<Parameters<StoreClient['conversations']['list']>[0]>['section']>

/** Conversations of the user, latest activity first. */
export interface ConversationsView extends Loading {
  conversations: readonly ConversationSummary[]
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** Rooms that the user sees without participating, and those of them that were joined, by title. */
export interface DirectoryView extends Loading {
  conversations: readonly PublicRoom[]
  /** Whether `loadMore` finds more; a page of a query may have found none. */
  has_more: boolean
}

/** The user's own settings for a conversation, once they are read. */
export interface ConversationSettingsView extends Loading {
  settings?: ConversationSettings
}

/** The threads of a conversation, latest activity first. */
export interface ThreadsView extends Loading {
  threads: readonly ThreadSummary[]
  has_more: boolean
  /** Posts that begin a thread, and are not stored yet. */
  pending: readonly PendingPost[]
}

/**
 * A thread, depth first: each message before its replies. Posts that are not stored yet are in their place; messages that
 * have arrived below what is read are at the end.
 */
export interface ThreadView extends Loading {
  /** Missing without one, and while the first message is deleted. */
  title?: string
  messages: readonly StoreMessage[]
  /** Whether `loadMore` finds more, below the last message. */
  has_more: boolean
}

/** A message; `pending` while it is only here, `detached` while the messages before it are not read. */
export type StoreMessage = Message & { pending?: PendingPost; detached?: true }

/** A message of a list by arrival; `pending` while it is only here. */
export type TimelineStoreMessage = TimelineMessage & { pending?: PendingPost }

/** Part of the messages of a conversation or a thread by arrival, newest last: it has no gap. */
export interface MessagesView extends Loading {
  messages: readonly TimelineStoreMessage[]
  /** The first message of the thread, in `replies()`. */
  root?: TimelineMessage
  /** Whether `loadOlder` finds more. */
  has_older: boolean
  /** Whether `loadNewer` finds more. While it does, a message that arrives is not shown. */
  has_newer: boolean
  /** The messages that have arrived since, while `has_newer`. */
  newer_count: number
  /** The number of unread messages: of the conversation, or of replies in the thread. */
  unread: number
  /** The first message of the whole list that the user has not read. */
  first_unread_id?: string
}

/** A post on its way: `failed` with the error, until it is retried or discarded. */
export interface PendingPost {
  /** The `Idempotency-Key`: however often it is sent, the post is stored once. */
  key: string
  status: 'sending' | 'failed'
  error?: unknown
  conversation_id: string
  root_id?: string
  parent_id?: string
  content: string
  /** The title of the thread that it begins. */
  title?: string | undefined
  role?: 'user' | 'assistant' | undefined
  /** The key of the assistant that is asked. */
  assistant?: string | undefined
  /** Files that were uploaded before. */
  attachments?: Attachment[]
  /** The message of the conversation that it quotes. */
  quote_id?: string
  /** The answer of which a question asks for a variant. */
  variant_of?: string
  /** When it was posted here, by the local clock. */
  created_at: string
}

/** A post: a reply if it has a `parent_id`, else the first message of a thread. */
export interface NewPost {
  /** The `Idempotency-Key`, if it was posted before, such as by the page before a reload. Default: a new one. */
  key?: string | undefined
  conversation_id: string
  /** The message that is answered, and its thread. */
  parent_id?: string | undefined
  root_id?: string | undefined
  content: string
  /** The title of the thread that it begins, of a post without `parent_id` only. */
  title?: string | undefined
  /** With `assistant`, the assistant answers: `content` is the question. Default: that of the layout of the conversation. */
  role?: 'user' | 'assistant' | undefined
  /** The key of the assistant that is asked. Default: the one that the place decides. */
  assistant?: string | undefined
  /** Files that were uploaded before: with one, `content` may be empty. */
  attachments?: Attachment[]
  /** A message of the same conversation that it quotes. */
  quote_id?: string | undefined
  /** An answer with the same parent, of which a question asks for a variant. */
  variant_of?: string | undefined
}
