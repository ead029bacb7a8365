import { type Sql, sql } from '../../storage/sql.ts'
/**
 * The transactions that a reader of PostgreSQL sees: all below `xmax` but the unfinished ones. Numbers of transactions
 * stay below 2^53 for centuries.
 */
export interface Snapshot {
  xmax: number
  /** Ascending, below `xmax`. */
  unfinished: readonly number[]
}

/** A snapshot with more unfinished transactions is cut off at the next one: what comes after that waits for it. */
const MAX_UNFINISHED = 64

/** @param text `xmin:xmax:` and the unfinished transactions between them, as `pg_current_snapshot()` has it */
export function toWholeSnapshot(text: string): Snapshot {
  const [, xmax, list] = text.split(':')
  return { xmax: Number(xmax), unfinished: list ? list.split(',').map(Number) : [] }
}

/** Cuts a snapshot off if too many transactions are unfinished. */
export function cutOff({ xmax, unfinished }: Snapshot): Snapshot {
  const cut = unfinished[MAX_UNFINISHED]
  return cut === undefined ? { xmax, unfinished } : { xmax: cut, unfinished: unfinished.slice(0, MAX_UNFINISHED) }
}

/** Removes what comes after a transaction from a snapshot. */
export function upTo(snapshot: Snapshot, last: number): Snapshot {
  const xmax = Math.min(snapshot.xmax, last + 1)
  return { xmax, unfinished: snapshot.unfinished.filter((number) => number < xmax) }
}

/** Whether a snapshot sees a transaction; a row without one is older than all snapshots. */
export function sees({ xmax, unfinished }: Snapshot, xid: number | null): boolean {
  return xid === null || (xid < xmax && !unfinished.includes(xid))
}

/** Whether a snapshot sees all that another one sees. */
export function seesAll({ xmax, unfinished }: Snapshot, other: Snapshot): boolean {
  return other.xmax <= xmax && unfinished.every((xid) => !sees(other, xid))
}

/** With more transactions than this below its end that it does not see, a snapshot is not extended: ids would grow. */
const MAX_PASSED = 16

/** A snapshot that sees one more transaction; `undefined` if it would have passed too many others. */
export function including({ xmax, unfinished }: Snapshot, xid: number): Snapshot | undefined {
  if (xid < xmax) return { xmax, unfinished: unfinished.filter((number) => number !== xid) }
  if (unfinished.length + xid - xmax > MAX_PASSED) return undefined
  const passed = Array.from({ length: xid - xmax }, (_, n) => xmax + n)
  return { xmax: xid + 1, unfinished: [...unfinished, ...passed] }
}

/** The first transaction that a snapshot does not see. */
export function firstUnseen({ xmax, unfinished }: Snapshot): number {
  return unfinished[0] ?? xmax
}

/** A short text: `xmax`, and how far below it each unfinished transaction is, in base 36. */
export function formatSnapshot({ xmax, unfinished }: Snapshot): string {
  return [xmax, ...unfinished.map((xid) => xmax - xid)].map((number) => number.toString(36)).join('_')
}

/** @param text of {@link formatSnapshot}; anything else of digits, letters and `_` gives some snapshot */
export function parseSnapshot(text: string): Snapshot {
  const [xmax = 0, ...below] = text.split('_').map(parseNumber)
  return { xmax, unfinished: below.map((number) => Math.max(0, xmax - number)) }
}

/** A number of digits and letters; anything else is zero. Not more than is exact: clients send these texts. */
export function parseNumber(text: string): number {
  return Math.min(Number.parseInt(text, 36) || 0, Number.MAX_SAFE_INTEGER)
}

/** A snapshot as parameters of a statement: the first transaction beyond it, and the unfinished ones as an array. */
export function toParams({ xmax, unfinished }: Snapshot): [xmax: string, unfinished: string] {
  return [String(xmax), `{${unfinished.join()}}`]
}

/** The condition that a snapshot sees the row `e`. */
export function seesRow(snapshot: Snapshot): Sql {
  const [xmax, unfinished] = toParams(snapshot)
  return sql`(e.xid IS NULL OR (e.xid < ${xmax}::xid8 AND e.xid <> ALL (${unfinished}::xid8[])))`
}
