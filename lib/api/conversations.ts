// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'

/** `chat.conversations`. */
export interface ConversationsUseCases {
  /**
   * Creates a conversation; the actor becomes its owner.
   *
   * @throws ChatError `forbidden` for a read-only user, and for the operator; `validation_failed`
   */
  create(
    actor: Actor,
    input?: {
      title?: string | undefined
      /** false: two participants at most */
      is_group?: boolean | undefined
    },
  ): Promise<CreatedConversation>

  /**
   * A page of the actor's conversations, latest activity first.
   *
   * @throws ChatError `invalid_cursor`; `validation_failed`
   */
  list(
    actor: Actor,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<ConversationPage>

  /**
   * Read a conversation with its participants.
   *
   * @throws ChatError `not_found`
   */
  get(actor: Actor, conversation_id: string): Promise<Conversation>

  /**
   * Changes the title of a conversation and publishes an event.
   *
   * @throws ChatError `not_found`; `forbidden` unless the actor is its owner; `validation_failed`
   */
  rename(actor: Actor, conversation_id: string, input: { title: string }): Promise<Conversation>

  /**
   * Deletes a conversation: it is hidden at once, and its streams close. A background task removes its content.
   *
   * @throws ChatError `not_found`; `forbidden` unless the actor is its owner
   */
  remove(actor: Actor, conversation_id: string): Promise<void>

  /**
   * A page of all conversations with their counts and no texts of messages, oldest first.
   *
   * @throws ChatError `forbidden` unless the actor is the operator; `validation_failed`
   */
  listAll(
    actor: Actor,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
      /** Only those in which this user participates */
      user_id?: string | undefined
    },
  ): Promise<ConversationsPage>

  /**
   * A conversation with its counts and its first participants, and no texts of messages.
   *
   * @throws ChatError `forbidden` unless the actor is the operator; `not_found`
   */
  describe(actor: Actor, conversation_id: string): Promise<ConversationFacts>

  /**
   * Deletes any conversation, as its owner does: it is hidden at once, and a background task removes its content.
   *
   * @throws ChatError `forbidden` unless the actor is the operator; `not_found`
   */
  removeAny(actor: Actor, conversation_id: string): Promise<void>
}

/** `client.conversations`. */
export interface ConversationsClient {
  /**
   * Create a conversation.
   *
   * The caller becomes its owner. With `is_group: false` it has at most two participants.
   *
   * @throws ChatError `forbidden`, `validation_failed`
   */
  create(
    input?: {
      title?: string | undefined
      /** false: two participants at most */
      is_group?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<CreatedConversation>

  /**
   * Read a conversation with its participants.
   *
   * With the first 200 participants, their roles and their presence.
   *
   * @throws ChatError `not_found`
   */
  get(conversation_id: string, options?: CallOptions): Promise<Conversation>

  /**
   * List your conversations, latest activity first.
   *
   * The conversations in which the caller participates, with their unread counts. Continue with `after`.
   *
   * @throws ChatError `invalid_cursor`, `validation_failed`
   */
  list(
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<ConversationPage>

  /**
   * Delete a conversation with everything in it.
   *
   * Allowed for owners. Deletes everything in it and ends its streams. It cannot be undone.
   *
   * @throws ChatError `not_found`, `forbidden`
   */
  remove(conversation_id: string, options?: CallOptions): Promise<void>

  /**
   * Change the title of a conversation.
   *
   * Allowed for owners. Participants get `conversation.updated`.
   *
   * @throws ChatError `not_found`, `forbidden`, `validation_failed`
   */
  rename(conversation_id: string, input: { title: string }, options?: CallOptions): Promise<Conversation>
}

export interface CreatedConversation {
  conversation_id: string
  conversation: Conversation
}

/** A conversation with its first participants. */
export interface Conversation {
  id: string
  title: string
  is_group: boolean
  created_at: string
  /** The first 200 in the order they joined */
  participants: Participant[]
  /** Number of all participants */
  participant_count: number
  /** Event id to resume a stream from */
  stream_position?: string
}

export interface Participant {
  user_id: string
  username: string
  display_name?: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
  joined_at: string
  presence: Presence
}

/** Whether a user is online; `last_seen_at` if it is known. */
export interface Presence {
  status: 'online' | 'away' | 'offline'
  last_seen_at?: string
}

/** A page of the conversations of a participant, latest activity first. */
export interface ConversationPage {
  conversations: ConversationSummary[]
  next_after?: string
}

/** A conversation in the list of a participant. */
export interface ConversationSummary {
  id: string
  title: string
  is_group: boolean
  created_at: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
  participant_count: number
  unread: number
  last_activity_at: string
}

/** A page of all conversations, oldest first. */
export interface ConversationsPage {
  conversations: ConversationOverview[]
  next_after?: string
}

/** A conversation as the operator reads it: counts, and no texts of messages. */
export interface ConversationOverview {
  id: string
  title: string
  is_group: boolean
  participants_count: number
  threads: number
  messages: number
  created_at: string
  last_activity_at: string
}

/** A conversation with its first participants. */
export interface ConversationFacts {
  id: string
  title: string
  is_group: boolean
  participants_count: number
  threads: number
  messages: number
  created_at: string
  last_activity_at: string
  participants: ParticipantFacts[]
}

/** A participant as the operator reads it. */
export interface ParticipantFacts {
  user_id: string
  username: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
}

/** A page of the participants of a conversation, in the order they joined. */
export interface ParticipantPage {
  participants: Participant[]
  next_after?: string
}

/** The new participant, or the invite for an email address that no user has verified. */
export type AddedParticipant = ChangedParticipant | InvitedParticipant

export interface ChangedParticipant {
  participant: Participant
}

export interface InvitedParticipant {
  invite: IssuedInvite
}

/** The token of an invite for an email address; it cannot be read again. */
export interface IssuedInvite {
  token: string
  expires_at: string
}

/** A conversation without its participants. */
export interface ConversationFields {
  id: string
  title: string
  is_group: boolean
  created_at: string
}
