import type { Assistant } from './assistant/provider.ts'
import type { Role } from './core/actor.ts'

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
