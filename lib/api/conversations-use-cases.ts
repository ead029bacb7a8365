// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type {
  Conversation,
  ConversationFacts,
  ConversationPage,
  ConversationSettings,
  ConversationsPage,
  CreatedConversation,
  DirectById,
  DirectBySubject,
  DirectByUsername,
  OpenedConversation,
  PolicyChange,
} from './conversations.ts'

/** `chat.conversations`. */
export interface ConversationsUseCases {
  /**
   * Creates a conversation; the actor becomes its owner, unless it is a system actor.
   *
   * @throws ChatError `forbidden` for a read-only user, for the operator, and for a disabled system actor;
   * `conflict` for a `ref` that another conversation has; `validation_failed`
   */
  create(
    actor: Actor,
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
  ): Promise<CreatedConversation>

  /**
   * The conversation with a ref: the same at every call. The first call creates it, with the actor as its owner;
   * later ones change nothing.
   *
   * @throws ChatError `forbidden` as `create`; `not_found` if the actor is no participant of the conversation;
   * `validation_failed`
   */
  ensure(
    actor: Actor,
    input: {
      /** No control, invisible or bidirectional characters; outer spaces are removed. Empty: none */
      title?: string | undefined
      /** false: two participants at most */
      is_group?: boolean | undefined
      /** The id of what the conversation is about; unique */
      ref: string
      /**
       * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
       * others would be stored as another number
       */
      metadata?: Record<string, unknown> | undefined
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
      /** Only the one with this `ref` */
      ref?: string | undefined
      /** true: only those that the caller has archived */
      archived?: 'false' | 'true' | 'all' | undefined
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
   * Changes the title, the ref, the metadata or the policy of a conversation and publishes an event.
   *
   * @throws ChatError `not_found`; `forbidden` unless the actor is its owner, or an admin who changes the policy
   * alone; `conflict` for a `ref` that another conversation has, and for the title of a direct conversation;
   * `validation_failed`
   */
  rename(
    actor: Actor,
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
  ): Promise<Conversation>

  /**
   * Deletes a conversation: it is hidden at once, and its streams close. A background task removes its content.
   *
   * @throws ChatError `not_found`; `forbidden` unless the actor is its owner; `conflict` for a direct conversation
   */
  remove(actor: Actor, conversation_id: string): Promise<void>

  /**
   * The direct conversation of the actor with another user, or with themselves: each call returns the same one, the
   * first creates it. Both own it. For the actor it is no longer archived. With a system actor it has one
   * participant, the user, and is opened whatever `direct.*` is.
   *
   * @throws ChatError `not_found` for an unknown or disabled user, and with `direct.enabled = false`; `forbidden`
   * for a read-only user, for a user in none of the actor's conversations unless `direct.who` is `everyone`, and by
   * the hook; `validation_failed`
   */
  direct(actor: Actor, input: DirectById | DirectByUsername | DirectBySubject): Promise<OpenedConversation>

  /**
   * The actor's own settings for a conversation.
   *
   * @throws ChatError `not_found`; `forbidden` for a system actor, which has none
   */
  settings(actor: Actor, conversation_id: string): Promise<ConversationSettings>

  /**
   * Changes the actor's own settings for a conversation, whatever the actor's role; missing ones keep their value.
   * The actor's own streams of all conversations get an event.
   *
   * @throws ChatError `not_found`, `forbidden` as `settings`; `validation_failed`
   */
  setSettings(
    actor: Actor,
    conversation_id: string,
    input?: {
      level?: 'all' | 'mentions' | 'none' | undefined
      /** An instant, or `forever`, which one after 2255-06-05 becomes; `null` or an instant in the past ends the muting */
      muted_until?: string | null | undefined
      archived?: boolean | undefined
      receipts?: boolean | undefined
    },
  ): Promise<ConversationSettings>

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
      /** Only the one with this `ref` */
      ref?: string | undefined
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
