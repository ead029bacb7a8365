// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { FileTotals } from './attachments.ts'
import type {
  AdoptedFiles,
  Checkup,
  CollectedFiles,
  FileCheckOptions,
  FileCheckup,
  Health,
  Probe,
  ProbeOptions,
  Pruned,
  Readiness,
  RecoveredFiles,
} from './ops.ts'

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
   * @param authorization must be `metrics.token` or one of `metrics.previous_tokens` as a bearer token, if one is
   * configured
   * @throws ChatError `unauthenticated`
   */
  metrics(authorization: string | null): Promise<string>

  /**
   * Deletes all expired rows in small batches, one kind after another: SQLite would put batches that wait together
   * into one commit. While the clock is not trusted, nothing.
   */
  prune(): Promise<Pruned>

  /**
   * Checks the invariants of the database, all on one consistent state of it.
   *
   * @param options.repair corrects wrong counts and lists; other findings are left as they are
   * @param options.onProgress called with the name of the next check, its number from 1, and the number of all
   */
  fsck(options?: {
    repair?: boolean
    onProgress?: (name: string, step: number, steps: number) => void
  }): Promise<Checkup>

  /**
   * Compares the database with the storage of files, while the service runs: whether the bytes of every file exist,
   * and whether the storage has others.
   *
   * A repair gives files back whose bytes have come back, counts, and then marks the others as gone. If the storage
   * is missing, or more than one in twenty files and more than two are, it marks none without `accept_loss`.
   *
   * @throws ChatError `unavailable` if the storage does not answer
   */
  fsckFiles(options?: FileCheckOptions): Promise<FileCheckup>

  /**
   * Deletes from the storage of files what nothing refers to: what the service does every minute, and bytes without
   * a row, which it does not look for.
   *
   * @param options.dry_run only counts
   * @param options.now also what is kept for `attachments.grace_hours`; not what a repair has let go of, which stays
   * 30 days
   * @param options.onProgress called with the number of deleted parts
   * @throws ChatError `unavailable` if the storage cannot be listed, or is missing; `conflict` if another database
   * owns it
   */
  collectFiles(options?: {
    dry_run?: boolean
    now?: boolean
    onProgress?: (parts: number) => void
  }): Promise<CollectedFiles>

  /** Counts of files, and of the bytes that they take. */
  fileTotals(): Promise<FileTotals>

  /**
   * Makes this database the owner of the storage of files: it may delete there what it does not name, and another
   * database with files there deletes nothing any more. What a repair had marked as gone, and is there, comes back.
   *
   * @throws ChatError `conflict` if the place has none of the newest files, nor of those that a repair has marked as
   * gone: then its disk may not be mounted; `unavailable`
   */
  adoptFiles(): Promise<AdoptedFiles>

  /**
   * Gives files that a repair has marked as gone their bytes again, where these very bytes are there: after a disk
   * was found again, or a folder was restored. Files that were deleted, erased, refused, or ran out do not come
   * back.
   *
   * @throws ChatError `unavailable` if the storage does not answer
   */
  recoverFiles(): Promise<RecoveredFiles>

  /**
   * Creates a probe: a user who may only read, or also upload files, alone in one conversation. So no other user
   * gets presence events of it, unlike of a session of a real user. Probes left by earlier runs are deleted with it,
   * or by `deleteLeftovers`.
   *
   * @returns `undefined` before set-up: the probe must not be the first user
   * @throws ChatError `forbidden`
   */
  probe(actor: Actor, options?: ProbeOptions): Promise<Probe | undefined>
}
