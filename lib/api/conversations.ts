// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.conversations`. */
export interface ConversationsClient {
  /**
   * Create a conversation.
   *
   * The caller becomes its owner. With `is_group: false` it has at most two participants. A `ref` is for
   * administrators, and `conflict` if another conversation has it.
   *
   * @throws ChatError `forbidden`, `conflict`, `validation_failed`
   */
  create(
    input?: {
      /** No control, invisible or bidirectional characters; outer spaces are removed. Empty: none */
      title?: string | undefined
      /** false: two participants at most */
      is_group?: boolean | undefined
      /** The id of what the conversation is about; unique. Over HTTP for administrators only */
      ref?: string | undefined
      /**
       * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
       * others would be stored as another number
       */
      metadata?: Record<string, unknown> | undefined
    },
    options?: CallOptions,
  ): Promise<CreatedConversation>

  /**
   * Open the direct conversation with a user.
   *
   * Two users have one direct conversation: the first call creates it (201), later ones of either return it (200).
   * Takes either a user id or a username; one of your own is for notes to yourself. It is then no longer archived
   * for you.
   *
   * @throws ChatError `not_found`, `forbidden`, `validation_failed`
   */
  direct(input: DirectById | DirectByUsername, options?: CallOptions): Promise<OpenedConversation>

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
      /** Only the one with this `ref` */
      ref?: string | undefined
      /** true: only those that the caller has archived */
      archived?: 'false' | 'true' | 'all' | undefined
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
   * @throws ChatError `not_found`, `forbidden`, `conflict`
   */
  remove(conversation_id: string, options?: CallOptions): Promise<void>

  /**
   * Change the title, the metadata or the policy of a conversation.
   *
   * Allowed for owners, the policy alone also for admins; the `ref` only for owners who are administrators. Missing
   * fields keep their value. Participants get `conversation.updated`.
   *
   * @throws ChatError `not_found`, `forbidden`, `conflict`, `validation_failed`
   */
  rename(
    conversation_id: string,
    input?: {
      /** No control, invisible or bidirectional characters; outer spaces are removed. Empty: none */
      title?: string | undefined
      /** An empty text removes it. Over HTTP for administrators only */
      ref?: string | undefined
      /**
       * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
       * others would be stored as another number
       */
      metadata?: Record<string, unknown> | undefined
      policy?: PolicyChange | undefined
    },
    options?: CallOptions,
  ): Promise<Conversation>

  /**
   * Change your own settings for a conversation.
   *
   * Every participant may, in every role. Missing fields keep their value. No other participant sees them; your own
   * streams of all conversations get `settings.update`.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  setSettings(
    conversation_id: string,
    input?: {
      level?: 'all' | 'mentions' | 'none' | undefined
      /** An instant, or `forever`, which one after 2255-06-05 becomes; `null` or an instant in the past ends the muting */
      muted_until?: string | null | undefined
      archived?: boolean | undefined
      receipts?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<ConversationSettings>

  /**
   * Read your own settings for a conversation.
   *
   * Of which messages you are notified, whether it is muted or archived, and whether you share what you read.
   *
   * @throws ChatError `not_found`
   */
  settings(conversation_id: string, options?: CallOptions): Promise<ConversationSettings>
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
  /** Set for a direct conversation */
  direct?: true
  policy: ConversationPolicy
  /** What the conversation is about: an id of the application */
  ref?: string
  /**
   * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
   * others would be stored as another number
   */
  metadata?: Record<string, unknown>
  created_at: string
  /** The first 200 in the order they joined */
  participants: Participant[]
  /** Number of all participants */
  participant_count: number
  with?: DirectPartner
  /** Unread notifications of kind `mention`, `mention_all` or `reply` of the caller */
  mentions?: number
  /** The level of the caller */
  level?: 'all' | 'mentions' | 'none'
  /** An instant, or `forever`; missing if the conversation is not muted */
  muted_until?: string
  /** Set if the caller has archived the conversation */
  archived?: true
  /** Event id to resume a stream from */
  stream_position?: string
}

/** The rules of a conversation, which its owners and admins set. */
export interface ConversationPolicy {
  mention_all: 'admins' | 'members' | 'nobody'
  receipts: 'on' | 'off'
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

/** The other person of a direct conversation; the caller in their own. */
export interface DirectPartner {
  user_id: string
  username: string
  display_name?: string
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
  /** Set for a direct conversation */
  direct?: true
  policy: ConversationPolicy
  /** What the conversation is about: an id of the application */
  ref?: string
  /**
   * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
   * others would be stored as another number
   */
  metadata?: Record<string, unknown>
  created_at: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
  participant_count: number
  unread: number
  with?: DirectPartner
  /** Unread notifications of kind `mention`, `mention_all` or `reply` of the caller */
  mentions?: number
  /** The level of the caller */
  level?: 'all' | 'mentions' | 'none'
  /** An instant, or `forever`; missing if the conversation is not muted */
  muted_until?: string
  /** Set if the caller has archived the conversation */
  archived?: true
  /** The time of the latest message; without one, of the creation */
  last_activity_at: string
}

/** A change of the policy; missing fields keep their value. Others are refused. */
export interface PolicyChange {
  mention_all?: 'admins' | 'members' | 'nobody'
  receipts?: 'on' | 'off'
}

export interface DirectById {
  user_id: string
}

export interface DirectByUsername {
  /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
  username: string
}

export interface DirectBySubject {
  /** The host's own id of a person */
  subject: string
}

/** A conversation that was there already, or was created. */
export interface OpenedConversation {
  conversation_id: string
  /** Whether this call has created it */
  created: boolean
  conversation: Conversation
}

/** The settings of a participant for a conversation; no other participant sees them. */
export interface ConversationSettings {
  /** Of which messages the participant is notified */
  level: 'all' | 'mentions' | 'none'
  /** An instant, or `forever`; missing if the conversation is not muted */
  muted_until?: string
  /** Whether the conversation is left out of the list */
  archived: boolean
  /** Whether others see what the participant has read, and the reverse */
  receipts: boolean
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
  ref?: string
  participant_count: number
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
  ref?: string
  participant_count: number
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

/** The token of an invite for an email address; it cannot be read again, and is missing if it is mailed. */
export interface IssuedInvite {
  token?: string
  expires_at: string
}

/** A conversation without its participants. */
export interface ConversationFields {
  id: string
  title: string
  is_group: boolean
  /** Set for a direct conversation */
  direct?: true
  policy: ConversationPolicy
  /** What the conversation is about: an id of the application */
  ref?: string
  /**
   * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
   * others would be stored as another number
   */
  metadata?: Record<string, unknown>
  created_at: string
}
