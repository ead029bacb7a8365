import type { AuditEntry } from './accounts/audit/store.ts'
import type { Provider } from './accounts/oauth/provider.ts'
import type { Passwords } from './accounts/passwords/hash.ts'
import type { Attempts } from './accounts/passwords/throttle.ts'
import type { Assistant } from './assistant/provider.ts'
import type { Runner } from './assistant/runner.ts'
import type { MadeBy } from './chat/invites/store.ts'
import type { PresenceWatch } from './chat/presence/watch.ts'
import type { Config } from './config/parse.ts'
import type { Role } from './core/actor.ts'
import type { AuthFailures } from './limits/auth-failures.ts'
import type { Limiter } from './limits/limiter.ts'
import type { Hub } from './live/hub.ts'
import type { Bus } from './live/poller.ts'
import type { Tx } from './live/transaction.ts'
import type { Metrics } from './metrics/registry.ts'
import type { Readiness } from './ops/readiness.ts'
import type { Database, TransactionOptions } from './storage/database.ts'
import type { Kv } from './storage/kv.ts'
import type { TaskWorker } from './tasks/runner.ts'

export type { AuditAct } from './accounts/audit/schema.ts'
export type { AuditEntry } from './accounts/audit/store.ts'
// What a lower folder needs of a higher one is a type from here, and a value that is handed in.
export type { Client } from './accounts/sessions/service.ts'
export type { Turn, TurnRole } from './assistant/provider.ts'
export type {
  CloseReason,
  ConversationStreamEvent,
  EphemeralEvent,
  PersistedEvent,
  StreamEvent,
} from './chat/events/schema.ts'
export type { Endpoint } from './limits/rules.ts'

/**
 * All that the service ever tells beside a message; what is not listed does not compile. A line of the audit log also has
 * what its `detail` holds.
 */
export type LogField =
  // Of a request.
  | 'request_id'
  | 'method'
  | 'route'
  | 'status'
  | 'ms'
  | 'user_id'
  // Of a failure.
  | 'cause'
  | 'error'
  | 'code'
  | 'reason'
  // What it is about.
  | 'conversation_id'
  | 'message_id'
  | 'stream'
  | 'provider'
  | 'failing'
  | 'signal'
  | 'task'
  // Of an act.
  | 'act'
  | 'actor_id'
  | 'subject_id'
  | 'ip'

/** What is told beside a message: no secret. */
export type LogFields = { readonly [Name in LogField]?: unknown }

/** Where the service says what it does. One call is one line. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** How many lines were lost so far because nobody took them; `/metrics` shows it. */
  dropped?(): number
}

/** What the host may bring instead of the defaults. */
export interface Ports {
  /** Writes the answers of the assistant. Default: the one that is configured. */
  assistant?: Assistant
  /**
   * Who calls, by the host's own login; `undefined` for somebody it does not know. It alone decides then: sessions, CSRF
   * tokens and API keys of the service mean nothing, and its sign-in routes are not there. Default: the service signs in.
   */
  identity?: (request: IdentityRequest) => Identity | undefined | Promise<Identity | undefined>
  /**
   * Sends a mail. Nobody waits for it, and a failure is logged without the mail. Default: nothing is sent, and the log
   * says so.
   */
  mail?: (mail: Mail) => void | Promise<void>
  /** Default: nothing is logged. */
  log?: Log
  /** Microseconds since 1970. It moves no timer. */
  now?: () => number
  /** A new UUIDv7. */
  id?: () => string
}

/** What the host's login may look at. */
export interface IdentityRequest {
  headers: Headers
  /** The address the call came from, where it is known. */
  ip?: string
}

/** Somebody as the host knows them. What is left out stays as it is, or is made up for a new user. */
export interface Identity {
  /** The host's own name for them: it never changes and is never given to somebody else. */
  subject: string
  username?: string
  email?: string
  display_name?: string
  roles?: readonly Role[]
}

/** A mail to one person: `text` is all of it; `token` is for a host that words it otherwise. */
export interface Mail {
  to: string
  subject: string
  text: string
  /** The secret that the mail carries; empty in a notice of what was changed, which carries none. */
  token: string
}

/** Everything alive of one service. It is made by `createChatService` and dies with `close()`. */
export interface Context {
  readonly config: Config
  readonly db: Database
  readonly kv: Kv
  readonly hub: Hub
  readonly bus: Bus
  readonly metrics: Metrics
  readonly readiness: Readiness
  readonly passwords: Passwords
  readonly attempts: Attempts
  readonly limiter: Limiter
  readonly authFailures: AuthFailures
  /** Where else people can sign in, by name. */
  readonly providers: ReadonlyMap<string, Provider>
  readonly presence: PresenceWatch
  readonly answers: Runner
  readonly tasks: TaskWorker
  readonly identity?: Ports['identity']
  readonly mail?: Ports['mail']
  readonly log: Log
  readonly now: () => number
  readonly id: () => string
  /**
   * Revokes the open invites of a user who may no longer make such ones.
   *
   * @returns the number of invites
   */
  readonly revokeInvites: (tx: Tx, made: MadeBy, by?: Pick<AuditEntry, 'actor_id' | 'ip'>) => Promise<number>
  /** Runs one transaction with its events, which leave once it is durable. The only way to change anything. */
  readonly write: <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>
}
