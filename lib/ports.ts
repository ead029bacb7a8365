import type { Attachment, Notification } from './api/entities.ts'
import type { Assistant, HostedAssistant } from './assistant/provider.ts'
import type { DefinedTool } from './assistant/tools/definition.ts'
import type { MeterEntry } from './chat/metering/entry.ts'
import type { Identity, IdentityRequest } from './core/identity.ts'
import type { NamesOf } from './core/known-names.ts'
import type { Hooks } from './hooks.ts'
import type { Mail } from './mail/mail.ts'

export type { Identity, IdentityRequest } from './core/identity.ts'
export type {
  AnswerAfter,
  AnswerVerdict,
  EventAfter,
  Hooks,
  JoinBefore,
  JoinVerdict,
  MessageBefore,
  MessageVerdict,
  ToolBefore,
  ToolVerdict,
} from './hooks.ts'

/** All fields of log lines; others do not compile. A line of the audit log also has the fields of its `detail`. */
export type LogField =
  // A request.
  | 'request_id'
  | 'method'
  | 'route'
  | 'status'
  | 'ms'
  | 'user_id'
  // A failure.
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
  | 'tool'
  | 'call_id'
  // A process that starts or ends.
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
  // An audited action.
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
   * Assistants beside the default, by the key that users write after `@`: `[a-z][a-z0-9_-]*`, at most 32 characters. They
   * come after those of the configuration, and replace one with the same key.
   */
  assistants?: Record<string, HostedAssistant>
  /** Tools that assistants may use, by the names in their setting `tools`: made by `defineTool`. */
  tools?: Record<string, DefinedTool>
  /**
   * Identifies the caller with the host's own authentication; `undefined` or `null` for a caller that is not signed in.
   * With it, it alone decides: sessions, CSRF tokens and API keys of the service have no effect, and its sign-in routes
   * are 404. The service calls it again at the heartbeat of open streams, once for each subject: another subject, or
   * none, ends the stream. Default: the service's own sign-in.
   */
  identity?: (request: IdentityRequest) => MaybeIdentity | Promise<MaybeIdentity>
  /**
   * Sends a mail. No request waits for it. If it throws, the mail is tried again later, under the same id. Default: the
   * mail server of `mail.smtp`; without one nothing is sent, and the log has a warning.
   */
  mail?: (mail: Mail) => unknown
  /**
   * Tells a person of something in a way of the host's, such as a push message: called after the commit, by the process
   * that wrote it, with each notification of the inbox, and with each message of conversations in which the recipient's
   * level is `all`. Not for a conversation that the recipient has muted, nor for a disabled user. Each call has 10
   * seconds; one that fails is logged and counted, and not repeated.
   */
  notify?: (notification: HostNotification, recipient: Recipient) => unknown
  /**
   * Takes what an answer has used, such as to charge for it: after the answer, at least once, by any process, in no order. It has 10
   * seconds; one that fails is called again with the same entry, for three days. `message_id` and `kind` name an entry.
   */
  meter?: (entry: MeterEntry) => unknown
  /**
   * Passes messages between the processes that share a database, so that they learn of each other's commits at once.
   * Optional: they also poll the database. `chat.close()` closes it.
   */
  bus?: Bus
  /**
   * Checks files, such as for viruses: called once all bytes of a file are stored. It has 60 seconds, and is called up
   * to three times; if it fails each time, `attachments.scan_failure` decides. Default: no file is checked.
   */
  scan?: (file: FileToCheck) => ScanVerdict | Promise<ScanVerdict>
  /**
   * Makes a small picture of a picture, of at most 512 × 512 pixels, or none. Called as `scan`, for pictures up to
   * `attachments.thumbnail_pixels`. Default: there are no thumbnails.
   */
  thumbnail?: (file: FileToCheck) => Thumbnail | undefined | Promise<Thumbnail | undefined>
  /** Functions of the host that are called before and after changes. */
  hooks?: Hooks
  /** Default: nothing is logged. */
  log?: Log
  /** The person who runs this process, as `detail.operator` of the audit log. Only for a script that serves no requests. */
  operator?: string
  /** Microseconds since 1970. It does not affect timers, and no step of it is looked for. */
  now?: () => number
  /** A new UUIDv7. */
  id?: () => string
}

const HOOKS: NamesOf<Hooks> = {
  beforeMessage: 0,
  beforeJoin: 0,
  beforeTool: 0,
  afterAnswer: 0,
  afterEvent: 0,
  failure: 0,
}

/** The ports that exist, and the hooks. */
export const PORTS: NamesOf<Ports> = {
  assistant: 0,
  assistants: 0,
  tools: 0,
  identity: 0,
  mail: 0,
  notify: 0,
  meter: 0,
  bus: 0,
  scan: 0,
  thumbnail: 0,
  hooks: HOOKS,
  log: 0,
  operator: 0,
  now: 0,
  id: 0,
}

/** A file that the host checks. */
export interface FileToCheck {
  attachment: Attachment
  /** Reads its bytes, in pieces of up to 4 MiB. Can be called again. */
  open(): AsyncIterable<Uint8Array>
  /** Aborts when its time is up, and when the service stops. */
  signal: AbortSignal
}

/** Whether a file may be read. Its uploader and moderators read the reason. */
export interface ScanVerdict {
  verdict: 'clean' | 'refused'
  reason?: string
}

/** A small picture. */
export interface Thumbnail {
  bytes: Uint8Array
  type: 'image/webp' | 'image/png' | 'image/jpeg'
  width: number
  height: number
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

/** A user, or none: what look-ups in databases return differs. */
type MaybeIdentity = Identity | null | undefined

/**
 * A notification, as `chat.notifications.list` has it. Also each message for a recipient whose level is `all`: then its
 * kind is `message`, and it has no `id`. Of the kinds `direct` and `message` there is one call for a thread in 30 seconds
 * and process.
 */
export interface HostNotification extends Omit<Notification, 'id' | 'kind'> {
  id?: string
  /** The host's own id of the user `actor_user_id`, where the host has the login. */
  actor_subject?: string
  kind: Notification['kind'] | 'message'
}

/** The user that the host notifies. */
export interface Recipient {
  user_id: string
  username: string
  display_name?: string
  /** Missing unless it is verified. */
  email?: string
  /** The host's own id of the user, where the host has the login. */
  subject?: string
}
