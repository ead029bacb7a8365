import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'

/** What a round does next; `done`: its sums are read; `outdated`: they are deleted by the next round. */
export type RoundStep = 'clear' | 'files' | 'unused' | 'messages' | 'done' | 'outdated'

/** A round in which everything is summed up. */
export interface Round {
  n: number
  as_of: Micros
  step: RoundStep
  /** The id of the last row of the step that is in the sums. */
  place: string
}

const COLUMNS = sql`n, as_of, step, place`

/** The latest round whose sums can be read. */
export function findDone(db: Queries): Promise<Round | undefined> {
  return db.get(sql`SELECT ${COLUMNS} FROM usage_rounds WHERE step = 'done' ORDER BY n DESC LIMIT 1`)
}

/** A round by its number, if its sums can be read still. */
export function findDoneAt(db: Queries, n: number): Promise<Round | undefined> {
  return db.get(sql`SELECT ${COLUMNS} FROM usage_rounds WHERE n = ${n} AND step = 'done'`)
}

/** Locks the round under way, so that no other process sums up the same rows. */
export function lockUnderWay(tx: Queries): Promise<Round | undefined> {
  return tx.get(
    sql`SELECT ${COLUMNS} FROM usage_rounds WHERE step NOT IN ('done', 'outdated') ORDER BY n DESC LIMIT 1${
      tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``
    }`,
  )
}

/**
 * Begins the round after the latest one that is done, unless another process has begun it. The latest sums stay until it is
 * done, and behind it until the next one begins.
 */
export async function insertRound(tx: Queries, done: Round | undefined, asOf: Micros): Promise<void> {
  const n = (done?.n ?? 0) + 1
  await tx.run(
    sql`UPDATE usage_rounds SET step = 'outdated' WHERE n < (SELECT max(n) FROM usage_rounds WHERE step = 'done')`,
  )
  await tx.run(
    sql`INSERT INTO usage_rounds (n, as_of, step, place) VALUES (${n}, ${asOf}, 'clear', '') ON CONFLICT DO NOTHING`,
  )
}

export async function moveRound(tx: Queries, n: number, { step, place }: Pick<Round, 'step' | 'place'>): Promise<void> {
  await tx.run(sql`UPDATE usage_rounds SET step = ${step}, place = ${place} WHERE n = ${n}`)
}

/** A round whose sums are to be deleted. */
export function findOutdated(db: Queries): Promise<Round | undefined> {
  return db.get(sql`SELECT ${COLUMNS} FROM usage_rounds WHERE step = 'outdated' LIMIT 1`)
}

export async function deleteRound(tx: Queries, n: number): Promise<void> {
  await tx.run(sql`DELETE FROM usage_rounds WHERE n = ${n}`)
}
