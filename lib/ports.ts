import type { Assistant } from './assistant/provider.ts'
import type { Role } from './core/actor.ts'

/**
 * All fields of log lines; an unlisted field does not compile. A line of the audit log also has the fields of its
 * `detail`.
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
  // The subject.
  | 'conversation_id'
  | 'message_id'
  | 'stream'
  | 'provider'
  | 'failing'
  | 'signal'
  | 'task'
  | 'worker'
  | 'migration'
  | 'copy'
  | 'bytes'
  // Of a process that starts or ends.
  | 'url'
  | 'public_url'
  | 'address'
  | 'version'
  | 'database'
  | 'config'
  | 'workers'
  | 'pid'
  | 'uptime_seconds'
  | 'is_setup'
  | 'changed'
  | 'needs_restart'
  // Of an audited action.
  | 'act'
  | 'actor_id'
  | 'subject_id'
  | 'ip'

/** The fields of a log line: no secret. */
export type LogFields = { readonly [Name in LogField]?: unknown }

/** The log of the service. One call is one line. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The number of lines dropped so far; `/metrics` exports it. */
  dropped?(): number
}

/** What the host may provide instead of the defaults. */
export interface Ports {
  /** Writes the answers of the assistant. Default: the configured provider. */
  assistant?: Assistant
  /**
   * Identifies the caller with the host's own authentication; `undefined` for an unknown caller. Then it alone decides:
   * sessions, CSRF tokens and API keys of the service have no effect, and its sign-in routes are 404. Default: the
   * service's own sign-in.
   */
  identity?: (request: IdentityRequest) => Identity | undefined | Promise<Identity | undefined>
  /**
   * Sends a mail. No request waits for it. If it throws, the mail is tried again later, under the same id. Default: the
   * mail server of `mail.smtp`; without one nothing is sent, and the log has a warning.
   */
  mail?: (mail: Mail) => void | Promise<void>
  /**
   * Passes messages between the processes that share a database, so that they learn of each other's commits at once.
   * Optional: they also poll the database. `chat.close()` closes it.
   */
  bus?: Bus
  /** Default: nothing is logged. */
  log?: Log
  /** Microseconds since 1970. It does not affect timers. */
  now?: () => number
  /** A new UUIDv7. */
  id?: () => string
}

/**
 * A message bus, such as a subject of NATS. Messages may be lost, repeated, or come back to their sender; they should
 * arrive within milliseconds. Each has up to 1 MB, and is only for processes with the same database.
 */
export interface Bus {
  /** Sends a message to all subscribers. */
  publish(bytes: Uint8Array): void | Promise<void>
  /** Calls `listener` with each message from now on. It is called again after a failure, until it succeeds once. */
  subscribe(listener: (bytes: Uint8Array) => void): void | Promise<void>
  /** Ends the subscription and closes the connection. */
  close(): void | Promise<void>
}

/** The parts of a request that the host's authentication may read. */
export interface IdentityRequest {
  headers: Headers
  /** The address of the client, if known. */
  ip?: string
}

/** A user as the host knows them. Missing fields keep their value, or get a placeholder for a new user. */
export interface Identity {
  /** The host's own id of the user: it never changes and is never reused for another user. */
  subject: string
  username?: string
  email?: string
  display_name?: string
  roles?: readonly Role[]
}

/** A mail to one person: `text` is the complete message; `token` is for a host with its own text. */
export interface Mail {
  /** The same at every try: a mail may be sent twice if the process ends while it is sent. */
  id: string
  /** Which mail it is: the name of its text. */
  kind: string
  to: string
  subject: string
  text: string
  /** The secret in the mail; empty in a notice of a change, which has none. */
  token: string
}
