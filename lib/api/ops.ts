// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'

/** `chat.ops`. */
export interface OpsUseCases {
  /** Says that the process turns; it looks at nothing. */
  health(): Health

  /**
   * Whether the service can do its work, answered within a second whatever is the matter.
   *
   * @throws ChatError `unavailable`, with what fails in `errors`
   */
  readiness(): Promise<Readiness>

  /**
   * The counters, in Prometheus' text format.
   *
   * @param authorization must be a bearer token, that of `metrics.token`, where one is configured
   * @throws ChatError `unauthenticated`
   */
  metrics(authorization: string | null): Promise<string>

  /**
   * Deletes everything that is kept no longer, in small batches: one kind after another, since SQLite would put
   * batches that wait together into one commit.
   */
  prune(): Promise<Pruned>

  /**
   * Checks that what always holds in a database of ours does, all on one state of it.
   *
   * @param options.repair puts counts right that are wrong; whatever else is found is left as it is
   * @param options.onProgress is told what is checked next
   */
  fsck(options?: { repair?: boolean; onProgress?: (name: string) => void }): Promise<Checkup>

  /**
   * Makes a probe: a user who may only read, in one conversation with nobody else in it. So nobody sees it come and
   * go, as they would a session of theirs. What an earlier one left behind goes with it, or by {@link
   * deleteLeftovers}.
   *
   * @returns `undefined` while nobody is set up: the first user must not be this one
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
  sessions: number
  invites: number
  api_keys: number
  password_resets: number
  email_verifications: number
  oauth_states: number
  limit_buckets: number
  login_failures: number
  known_devices: number
  idempotency_keys: number
  probes: number
  audit_entries: number
}

/** What a check of the whole database has found; `findings` is empty when all is well. */
export interface Checkup {
  checked: number
  findings: Finding[]
}

/** What was found of one invariant. */
export interface Finding {
  name: string
  says: string
  /** How much breaks it. */
  count: number
  /** The ids of some of it. */
  examples: string[]
  /** Nothing is wrong, but somebody may want to know. */
  note?: true
  /** Whether it was put right; missing when that was not asked for, or cannot be done. */
  repaired?: true
}

/** A stranger in a conversation of its own, by whom a running service can be tried from outside. */
export interface Probe {
  conversation_id: string
  /** Of its session. */
  token: string
  /** Has one event go out in the conversation: `conversation.updated`. */
  nudge(): Promise<void>
  /** Takes everything back but the line in the audit log; streams of it close. Again, it does nothing. */
  remove(): Promise<void>
}
