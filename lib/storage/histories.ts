import { newId } from '../core/ids.ts'
import type { Database, Queries } from './database.ts'
import { sql } from './sql.ts'

/**
 * One history of the log: the events from `first_id` on, up to the next history. A restored database counts its events from
 * an earlier number again, so the name of the history in which an event was written belongs to its id.
 */
export interface History {
  first_id: number
  /** 32 hexadecimal digits; a later history has a greater name. */
  name: string
  /** The epoch that the database had. */
  epoch: string
}

/** The width of the number in an id: 36 to the power of 11 is more than any number that is exact. */
const NUMBER_WIDTH = 11

/** The histories whose events may still be stored, the oldest first: as JSON in a row of `meta`, from the first start on. */
export async function listHistories(db: Queries): Promise<History[]> {
  return parseHistories(
    (await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'event_histories'`))?.value,
  )
}

/**
 * The id of an event: the same wherever and whenever it is shown, also after a restore, and of no other event. Of two events
 * of a conversation the later one has the greater id.
 *
 * @param id its number in the log
 */
export function toEventName(histories: readonly History[], id: number): string {
  const { name } = histories.findLast(({ first_id }) => first_id <= id) ?? histories[0]!
  return `evt_${name}_${id.toString(36).padStart(NUMBER_WIDTH, '0')}`
}

/** Begins a history if the database has got another epoch since the last one, or has none. */
export async function ensureHistory(db: Database): Promise<void> {
  const { epoch, histories } = await readState(db)
  if (histories.at(-1)?.epoch !== epoch) await db.write((tx) => beginHistory(tx))
}

/**
 * Begins a history behind the last event, unless the last one is of the present epoch already.
 *
 * @param force begins one in any case: the database is known to be a copy
 */
export async function beginHistory(tx: Queries, { force = false }: { force?: boolean } = {}): Promise<void> {
  // Two nodes that start at once begin one history.
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT value FROM meta WHERE name = 'epoch' FOR UPDATE`)
  const { epoch, histories, first, last } = await readState(tx)
  const latest = histories.at(-1)
  if (latest?.epoch === epoch && !force) return
  // The first one is called after the epoch: events from before they had ids get the same ones in each copy.
  const next = latest
    ? { first_id: (last ?? 0) + 1, name: laterName(latest.name), epoch }
    : { first_id: 0, name: epoch.replaceAll('-', ''), epoch }
  const oldest = first ?? Number.POSITIVE_INFINITY
  // No event of the others is stored any more.
  const kept = histories.filter(({ first_id }, n) => {
    const end = histories[n + 1]?.first_id ?? next.first_id
    return end > Math.max(first_id, oldest)
  })
  await tx.run(
    sql`INSERT INTO meta (name, value) VALUES ('event_histories', ${JSON.stringify([...kept, next])})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
}

interface State {
  epoch: string
  histories: History[]
  /** The ends of the log; `null` without an event. */
  first: number | null
  last: number | null
}

async function readState(db: Queries): Promise<State> {
  const row = await db.get<Omit<State, 'histories'> & { value: string | null }>(
    sql`SELECT (SELECT value FROM meta WHERE name = 'epoch') AS epoch,
            (SELECT value FROM meta WHERE name = 'event_histories') AS value,
            (SELECT min(id) FROM events) AS first, (SELECT max(id) FROM events) AS last`,
  )
  const { value, ...state } = row!
  return { ...state, histories: parseHistories(value) }
}

/** A name behind another one, also after the clock was set back: the first 12 digits of an id are its time. */
function laterName(name: string): string {
  const id = newId().replaceAll('-', '')
  if (id > name) return id
  return (Number.parseInt(name.slice(0, 12), 16) + 1).toString(16).padStart(12, '0') + id.slice(12)
}

/** @returns none for anything that the service has not written: an archive may come from others */
export function parseHistories(text: string | null | undefined): History[] {
  if (!text) return []
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) && parsed.every(isHistory) ? parsed : []
  } catch {
    return []
  }
}

function isHistory(value: unknown): value is History {
  const { first_id, name, epoch } = Object(value) as Partial<History>
  return Number.isSafeInteger(first_id) && /^[0-9a-f]{32}$/.test(String(name)) && /^[0-9a-f-]{36}$/.test(String(epoch))
}
