/** A step of one of the two positions of a source; it commits with the effects. */
export type Move =
  /** A page was pulled: `from` is `null` before the first. With another position in the database nothing is committed. */
  | { cursor: 'pulled'; from: string | null; to: string }
  /** A `webhook.gap` arrived: all events before it are settled. */
  | { cursor: 'pushed'; to: string }

/** What commits together. */
export interface ReceiveUnit<Tx> {
  source: string
  /** Different ids. */
  ids: readonly string[]
  /** Called for each id that the table did not have, in the order of `ids`. A throw rolls all back. */
  run(tx: Tx, id: string): unknown
  move?: Move
}

/** Where a source stands. */
export interface ReceivePositions {
  /** Where `pull` continues. */
  pulled?: string
  /** The position that the last `webhook.gap` named. */
  pushed?: string
}

/** What lets events be applied again. */
export interface Forgetting {
  /** Ids of events that were applied at this time or later are deleted. */
  since: Date
  /** Where `pull` continues from now on. Default: where it stands. */
  position?: string
}

/**
 * The database of a receiver. `pgStore` and `sqliteStore` make it; for another database, implement it over the tables of
 * `receiveSchema`.
 */
export interface ReceiveStore<Tx> {
  /** Creates the tables unless they exist. Several processes may call it at the same time. */
  migrate(): Promise<void>
  /** The stored positions of a source. */
  positions(source: string): Promise<ReceivePositions>
  /**
   * Runs a unit in one transaction: it moves the position, inserts the ids, and runs those that it inserted. An id that
   * another transaction has inserted and not committed yet is waited for. Ids are kept for at least 30 days.
   *
   * @returns how many ids were run; `undefined` if the position is not `from`: then nothing is committed
   */
  apply(unit: ReceiveUnit<Tx>): Promise<number | undefined>
  forget(source: string, forgetting: Forgetting): Promise<void>
}

/** Longer than anything is sent: events are repeated for 14 days at most. */
export const KEPT_DAYS = 30
