import type { CloseReason, EphemeralEvent } from '../../context.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Source } from '../conversation/channel.ts'
import type { Following } from '../feed/followers.ts'
import type { InboxEvent } from '../hub/inboxes.ts'
import type { EventRow, NumberedEvent } from '../log/log.ts'
import type { Delivery } from './delivery.ts'

/** The destination of the events of a reader. */
export interface Sink {
  write(delivery: Delivery): void
  /** The number of written bytes that the client has not yet received. */
  pending(): number
  /** Resolves when few bytes are pending, or the client has disconnected. */
  drained(): Promise<void>
  /**
   * How far the client has read, as a text that changes when it reads on; `undefined` if nothing waits for it. Missing for a
   * consumer that may take its time: a loop of the host.
   */
  progress?(): string | undefined
  end(): void
  /** Ends it in a way that its client does not take for the end. Missing for a consumer that has no such way. */
  abort?(): void
}

/** What a caller was recognised by, where that is neither a session nor an API key. */
export interface Login {
  readonly at: Micros
  /** When its proof was issued, and expires, where that has these times: signed tokens do. */
  readonly issued_at?: Micros | undefined
  readonly expires_at?: Micros | undefined
  /** The session or the API key that a token of the service was made with, if it was one. */
  readonly maker?: { readonly session_id?: string; readonly key_id?: string }
  /** Set where the host is asked again: what ends other proofs is looked up. */
  readonly host?: HostLogin | undefined
}

/** The login of a host's own authentication. */
export interface HostLogin {
  readonly subject: string
  /** Whether the host still recognises the same person. @throws whatever the host throws */
  ask(): Promise<boolean>
}

/** An open stream of one conversation, or of all conversations of a user. */
export interface Reader {
  readonly conversation_id: string | undefined
  readonly user_id: string
  readonly session_id: string | undefined
  readonly key_id: string | undefined
  /** The login or the token that opened it, if there is one. */
  readonly login: Login | undefined
  /** When its caller was recognised, in microseconds since 1970. */
  readonly since: Micros
  /** Whether a system actor reads, which participates in no conversation and follows all. */
  readonly is_system: boolean
  /**
   * Whether the user reads an open conversation without participating: then it is sent what is stored, and the activity of
   * threads. It ends when the user may no longer read, and is set to false when the user joins.
   */
  is_outside: boolean
  sink: Sink
  /** How long its stream waits for an event, when the reader has caught up, before it ends; `undefined`: it stays open. */
  readonly wait_ms: number | undefined
  /** When the session or API key expires if it is not used, in microseconds since 1970; then it is checked again. */
  expires_at: number
  /** Set for a stream of all conversations. */
  following: Following | undefined
  /** False for a stream of a conversation with too many participants for presence events. */
  gets_presence: boolean
  closed: boolean
}

/** A conversation of a user, with the time at which the user joined. */
export interface JoinedConversation {
  conversation_id: string
  joined_at: Micros
}

/** A thread that a user may follow. */
export interface UnreadPlace {
  user_id: string
  conversation_id: string
  root_id: string
}

/** What is unread in a thread for a user who follows it. */
export interface UnreadUpdate {
  user_id: string
  event: Extract<EphemeralEvent, { type: 'unread.update' }>
}

/** The functions that the hub needs from conversations and users. They are passed in, because both import the hub. */
export interface StreamSources {
  /** The log of one conversation. */
  ofConversation(conversationId: string): Source
  /** The events of rows of the log: of as many as can be read at once, and at least of the first. */
  compose(rows: EventRow[]): Promise<NumberedEvent[]>
  /** The conversations of a user. */
  listMemberships(userId: string): Promise<JoinedConversation[]>
  /** Whether the streams of a conversation get presence events. */
  getsPresence(conversationId: string): Promise<boolean>
  /** Which of these users participate in which of these conversations. */
  listParticipations(
    userIds: ReadonlySet<string>,
    conversationIds: ReadonlySet<string>,
  ): Promise<{ conversation_id: string; user_id: string }[]>
  /** The number of unread notifications of a user. */
  countNotifications(userId: string): Promise<number>
  /** Events about inboxes with what only the database knows, without those that are outdated. */
  completeInboxEvents(events: InboxEvent[]): Promise<InboxEvent[]>
  /** The users who may follow a thread, among these. Costs as the followers of the thread, or as these users if they are fewer. */
  listFollowing(rootId: string, userIds: ReadonlySet<string>): Promise<string[]>
  /** What is unread for those of these users who follow the thread, where the conversation is a stream. */
  listUnreadUpdates(places: UnreadPlace[]): Promise<UnreadUpdate[]>
  /** The streams that must end, each with the reason. Sets `expires_at` of the others, and `is_outside` of those that have joined. */
  findRefusals(readers: Reader[]): Promise<[Reader, CloseReason][]>
}
