import type { CloseReason } from '../context.ts'
import type { Micros } from '../storage/sql.ts'
import type { Source } from './channel.ts'
import type { Delivery } from './delivery.ts'
import type { Following } from './followers.ts'
import type { EventRow, NumberedEvent } from './log.ts'

/** The destination of the events of a reader. */
export interface Sink {
  write(delivery: Delivery): void
  /** The number of written bytes that the client has not yet received. */
  pending(): number
  /** Resolves when few bytes are pending, or the client has disconnected. */
  drained(): Promise<void>
  end(): void
}

/** An open stream of one conversation, or of all conversations of a user. */
export interface Reader {
  readonly conversation_id: string | undefined
  readonly user_id: string
  readonly session_id: string | undefined
  readonly key_id: string | undefined
  readonly sink: Sink
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
  /** The streams that must end, each with the reason. Sets `expires_at` of the others. */
  findRefusals(readers: Reader[]): Promise<[Reader, CloseReason][]>
}
