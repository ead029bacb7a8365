// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'

/** `chat.ops`. */
export interface OpsUseCases {
  /** Confirms that the process runs; it checks nothing. */
  health(): Health

  /**
   * Whether the service can work, returned within a second in any case.
   *
   * @throws ChatError `unavailable`, with the failed checks in `errors`
   */
  readiness(): Promise<Readiness>

  /**
   * The metrics in the text format of Prometheus.
   *
   * @param authorization must be a bearer token equal to `metrics.token`, if one is configured
   * @throws ChatError `unauthenticated`
   */
  metrics(authorization: string | null): Promise<string>

  /**
   * Deletes all expired rows in small batches, one kind after another: SQLite would put batches that wait together
   * into one commit.
   */
  prune(): Promise<Pruned>

  /**
   * Checks the invariants of the database, all on one consistent state of it.
   *
   * @param options.repair corrects wrong counts; other findings are left as they are
   * @param options.onProgress called with the name of the next check, its number from 1, and the number of all
   */
  fsck(options?: {
    repair?: boolean
    onProgress?: (name: string, step: number, steps: number) => void
  }): Promise<Checkup>

  /**
   * Creates a probe: a user who may only read, alone in one conversation. So no other user gets presence events of
   * it, as they would of a session of theirs. Probes left by earlier runs are deleted with it, or by
   * `deleteLeftovers`.
   *
   * @returns `undefined` before set-up: the probe must not be the first user
   * @throws ChatError `forbidden`
   */
  probe(actor: Actor): Promise<Probe | undefined>
}

/** `client.ops`. */
export interface OpsClient {
  /**
   * Liveness probe.
   *
   * 200 while the process is responsive; it checks nothing else.
   */
  health(options?: CallOptions): Promise<Health>

  /**
   * Prometheus metrics.
   *
   * In Prometheus' text format. Requires `metrics.token` as a bearer token if configured.
   *
   * @throws ChatError `unauthenticated`
   */
  metrics(options?: CallOptions): Promise<string>

  /**
   * Readiness probe.
   *
   * Checks the database, its schema, and the exchange with other processes. Otherwise 503 with the failed checks in
   * `errors`, also while the service is stopping.
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

/** A temporary user in a conversation of its own, with which `doctor` tests a running service from outside. */
export interface Probe {
  conversation_id: string
  /** The token of its session. */
  token: string
  /** Publishes one event in the conversation: `conversation.updated`. */
  nudge(): Promise<void>
  /** Deletes everything but the audit entries; its streams close. A second call does nothing. */
  remove(): Promise<void>
}
