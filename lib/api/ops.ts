// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.ops`. */
export interface OpsAdminClient {
  /**
   * Liveness probe.
   *
   * 200 while the process is responsive; it checks nothing else.
   */
  health(options?: CallOptions): Promise<Health>

  /**
   * Prometheus metrics.
   *
   * In Prometheus' text format. Requires `metrics.token`, or one of `metrics.previous_tokens`, as a bearer token if
   * configured.
   *
   * @throws ChatError `unauthenticated`
   */
  metrics(options?: CallOptions): Promise<string>

  /**
   * Readiness probe.
   *
   * Checks the database, its schema, and the exchange with other processes. Otherwise 503 with the failed checks in
   * `errors`, also while the service is stopping. `attachments` is `missing` while the storage of files is: the
   * service stays ready.
   *
   * @throws ChatError `unavailable`
   */
  readiness(options?: CallOptions): Promise<Readiness>
}

export interface Health {
  status: 'ok'
}

export interface Readiness {
  status: 'ready'
  checks: ReadinessChecks
}

export interface ReadinessChecks {
  database: 'ok'
  migrations: 'ok'
  bus: 'ok'
  clock: 'ok'
  attachments?: 'ok' | 'missing'
}

/** How many rows of each kind were deleted. */
export interface Pruned {
  events: number
  revocations: number
  sessions: number
  invites: number
  api_keys: number
  password_resets: number
  email_verifications: number
  email_requests: number
  oauth_states: number
  limit_buckets: number
  login_failures: number
  known_devices: number
  idempotency_keys: number
  notifications: number
  probes: number
  audit_entries: number
}

/** The result of a check of the whole database; `findings` is empty if it is consistent. */
export interface Checkup {
  checked: number
  findings: Finding[]
}

/** The violations of one invariant. */
export interface Finding {
  name: string
  says: string
  /** The number of violations. */
  count: number
  /** The ids of some of them. */
  examples: string[]
  /** What to do about it. */
  remedy: string
  /** Not an error, but worth reporting. */
  note?: true
  /** Whether it was repaired; missing if a repair was not requested or is not possible. */
  repaired?: true
}

/** How to check the storage of files. */
export interface FileCheckOptions {
  /** Reads all bytes, and compares their digests. Default: their sizes are compared. */
  read?: boolean
  /** Marks files whose bytes are missing or differ as `gone`, after a count. */
  repair?: boolean
  /** The number of these files: a repair marks that many, also if the storage is missing, or they are many. */
  accept_loss?: number
  /** Called with the number of files, and of their bytes, that were checked so far. */
  onProgress?: (files: number, bytes: number) => void
}

/** The result: `findings` is empty if no bytes are missing. */
export interface FileCheckup {
  files: number
  bytes: number
  /** Files among them whose bytes are missing or differ. */
  missing: number
  /** Files that a repair has given their bytes again. */
  recovered: number
  /** A repair has marked no file: it needs `accept_loss`. */
  needs_consent?: true
  findings: Finding[]
}

/** What was deleted from the storage of files, or would be. */
export interface CollectedFiles {
  /** Uploads that ran out, files that no message took, and expired files of deleted messages. */
  expired: number
  /** Blobs that nothing refers to, with all of their bytes. */
  blobs: number
  /** Parts that no row names. */
  garbage: number
  /** Files that killed processes have left half written. */
  unfinished: number
  /** The size of the deleted bytes of blobs, and of parts that no row names, as far as they were there. */
  bytes: number
  /** Blobs, and parts that no row names, that the storage could not delete: they are tried again. */
  failed: number
}

/** What the adoption of a storage of files has found there. */
export interface AdoptedFiles {
  /** The place, without secrets. */
  place: string
  /** `own`: nothing had to be changed; `shared`: another database owned it; `missing`: it had another marker, or none. */
  was: 'own' | 'shared' | 'missing' | 'free'
  /** Files that a repair had marked as gone, and that have their bytes again. */
  recovered: number
  /** Files that are not there, if the place was found by such files only: they were stored elsewhere meanwhile. */
  missing: number
  /** Some of them. */
  missing_ids: string[]
}

/** What became of lost files. */
export interface RecoveredFiles {
  /** Files that can be read again. */
  recovered: number
}

/** Options of a probe. */
export interface ProbeOptions {
  /** Whether it may upload a file, and not only read. */
  may_upload?: boolean
}

/** A temporary user in a conversation of its own, with which `doctor` tests a running service from outside. */
export interface Probe {
  conversation_id: string
  /** The token of its session, and the one that its changes repeat. */
  token: string
  csrf_token: string
  /** Publishes one event in the conversation: `conversation.updated`. */
  nudge(): Promise<void>
  /** Deletes everything but the audit entries; its streams close. A second call does nothing. */
  remove(): Promise<void>
}
