import type { CloseReason } from '../context.ts'
import type { Source } from './channel.ts'
import type { Delivery, Memberships } from './delivery.ts'
import type { Membership } from './replay.ts'

/** Where a reader's events go. */
export interface Sink {
  write(delivery: Delivery): void
  /** Bytes written and not yet taken by the client. */
  pending(): number
  /** Resolves once little is pending, or the client has disconnected. */
  drained(): Promise<void>
  end(): void
}

/** An open stream, of one conversation or of all of a user's. */
export interface Reader {
  readonly conversation_id: string | undefined
  readonly user_id: string
  readonly session_id: string | undefined
  readonly key_id: string | undefined
  readonly sink: Sink
  /** When its session or API key expires unless it is used, in microseconds since 1970; looked up again then. */
  expires_at: number
  /** Of a reader that follows all of its conversations. */
  memberships: Memberships | undefined
  closed: boolean
}

/** What the hub needs of conversations and users: handed in, as both import it. */
export interface StreamSources {
  /** The log of one conversation. */
  ofConversation(conversationId: string): Source
  /** The log of all conversations. */
  ofAll(): Source
  /** The conversations that a user is in. */
  listMemberships(userId: string): Promise<Membership[]>
  /** The streams that must end, and why; sets `expires_at` of the others. */
  findRefusals(readers: Reader[]): Promise<[Reader, CloseReason][]>
}
