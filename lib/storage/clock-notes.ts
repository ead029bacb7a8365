import { type Clock, createClock } from '../core/clock.ts'
import { type ClockRecord, clockDoubt, isOfRunning } from '../core/clock-trust.ts'
import { monotonicMicros } from '../core/time.ts'
import { MINUTE } from '../core/units.ts'
import type { Database, Queries } from './database.ts'
import { databaseNow, type Micros, sql } from './sql.ts'

/** What services have noted of the clock. */
export interface ClockNotes {
  /** When a service last ran with a clock that it trusted; missing in a new database. */
  note: Micros | undefined
  /** What is known of a clock that a service does not trust. */
  record: ClockRecord | undefined
}

/** By primary key. */
export async function readClockNotes(db: Queries): Promise<ClockNotes> {
  const rows = await db.all<{ name: string; value: string }>(
    sql`SELECT name, value FROM meta WHERE name IN ('clock_seen_at', 'clock_untrusted')`,
  )
  const values = new Map(rows.map(({ name, value }) => [name, value]))
  const [note, record] = [values.get('clock_seen_at'), values.get('clock_untrusted')]
  return {
    note: note === undefined ? undefined : Number(note),
    record: record === undefined ? undefined : (JSON.parse(record) as ClockRecord),
  }
}

/** Stores a time at which the clock was trusted. */
export async function noteTrusted(tx: Queries, at: Micros): Promise<void> {
  await setMeta(tx, 'clock_seen_at', String(Math.round(at)))
  await tx.run(sql`DELETE FROM meta WHERE name = 'clock_untrusted'`)
}

/** Stores what is known of a clock that is not trusted. Of several processes with the same step, the longest run counts. */
export async function noteUntrusted(tx: Queries, record: ClockRecord): Promise<void> {
  const { record: before } = await readClockNotes(tx)
  const isSame = before !== undefined && Math.abs(before.step - record.step) < 5 * MINUTE
  const ran = isSame ? Math.max(before.ran, record.ran) : record.ran
  await setMeta(tx, 'clock_untrusted', JSON.stringify({ ...record, ran, up: machineMicros(tx) }))
}

/** The time since the start of the machine; `undefined` on PostgreSQL, whose processes run on several. */
function machineMicros({ dialect }: Queries): number | undefined {
  return dialect === 'sqlite' ? Number(process.hrtime.bigint() / 1000n) : undefined
}

/** As in a new database: the next start trusts its clock. */
export async function forgetClock(tx: Queries): Promise<void> {
  await tx.run(sql`DELETE FROM meta WHERE name IN ('clock_seen_at', 'clock_untrusted')`)
}

async function setMeta(tx: Queries, name: string, value: string): Promise<void> {
  await tx.run(
    sql`INSERT INTO meta (name, value) VALUES (${name}, ${value})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  )
}

/** Sets a clock to that of PostgreSQL, before a process has its row among the nodes, whose heartbeats do so from then on. */
export async function learnClock(db: Database, clock: Clock): Promise<void> {
  if (!clock.isShared) return
  const began = monotonicMicros()
  const row = await db.get<{ at: Micros }>(sql`SELECT ${databaseNow(db.dialect)} AS at`)
  clock.learn(began, Number(row!.at), monotonicMicros())
}

/** The clock of a command, and what services have noted about it. */
export interface CommandClock extends ClockNotes {
  now: Micros
  /** Whether a running service does not trust its clock. */
  is_running: boolean
  /** Why nothing may be deleted by its age; missing if it may. */
  doubt: string | undefined
}

/** The clock of a command, which is the database's where that has its own. Reads only. */
export async function readCommandClock(db: Database): Promise<CommandClock> {
  const clock = createClock({ isShared: db.dialect === 'postgresql' }, { stepped() {}, trusted() {} })
  await learnClock(db, clock)
  const notes = await readClockNotes(db)
  const now = clock.now()
  const up = machineMicros(db)
  const is_running = notes.record !== undefined && isOfRunning(notes.record, now, up)
  return { ...notes, now, is_running, doubt: clockDoubt(now, { ...notes, up }) }
}
