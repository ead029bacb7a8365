import Sqlite from 'better-sqlite3'
import { Pool } from 'pg'
import {
  type AppliedEvent,
  applyOnce,
  type PgTransaction,
  pgStore,
  type ReceiveStore,
  sqliteStore,
} from '../../../lib/receive/index.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { DATABASES } from '../servers/each-database.ts'

/** A receiver's database: with the kit, and without. */
interface Receiving {
  // biome-ignore lint/suspicious/noExplicitAny: the rows measure the stores of both databases
  store: ReceiveStore<any>
  // biome-ignore lint/suspicious/noExplicitAny: see `store`
  effect: (tx: any, event: AppliedEvent) => unknown
  /** The effects of these events in one transaction. */
  alone: (events: AppliedEvent[]) => Promise<void>
  close(): Promise<void>
}

const EFFECTS = 'CREATE TABLE effects (event_id text NOT NULL, type text NOT NULL)'
const INSERT = { sqlite: 'INSERT INTO effects VALUES (?, ?)', postgres: 'INSERT INTO effects VALUES ($1, $2)' }

function openSqlite(file: string): Receiving {
  const db = new Sqlite(file)
  db.pragma('journal_mode = WAL')
  db.exec(EFFECTS)
  const insert = db.prepare(INSERT.sqlite)
  const effect = (_tx: unknown, { id, type }: AppliedEvent) => void insert.run(id, type)
  const all = db.transaction((events: AppliedEvent[]) => {
    for (const event of events) effect(db, event)
  })
  return { store: sqliteStore(db), effect, alone: async (events) => all(events), close: async () => void db.close() }
}

async function openPostgres(url: string): Promise<Receiving> {
  const pool = new Pool({ connectionString: url })
  await pool.query(EFFECTS)
  const effect = (tx: PgTransaction, { id, type }: AppliedEvent) => tx.query(INSERT.postgres, [id, type])
  async function alone(events: AppliedEvent[]): Promise<void> {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      for (const event of events) await effect(client, event)
      await client.query('COMMIT')
    } finally {
      client.release()
    }
  }
  return { store: pgStore(pool), effect, alone, close: () => pool.end() }
}

const state = { made: 0 }

function nextEvents(count: number): AppliedEvent[] {
  return Array.from({ length: count }, () => {
    const id = `evt_1_${String(state.made++).padStart(12, '0')}`
    return { id, type: 'message.failed', timestamp: '2026-01-01T00:00:00Z', data: {} } as unknown as AppliedEvent
  })
}

/** The microseconds of an event, where so many come at a time. */
async function timeEvents(seconds: number, size: number, apply: (events: AppliedEvent[]) => Promise<unknown>) {
  const begin = performance.now()
  let count = 0
  for (; performance.now() - begin < seconds * 1000; count += size) await apply(nextEvents(size))
  return ((performance.now() - begin) * 1000) / count
}

const SIZES = [
  { name: 'apply-once-page', size: 100, how: '100 a page, with the position', reach: 1.8, beyond: 1.4 },
  { name: 'apply-once', size: 1, how: 'one at a time', reach: 1.5, beyond: 1.2 },
]

/** What the receiver kit costs beside what is done with an event: one row, inserted. */
export const applyOnceRows: Row[] = DATABASES.flatMap(({ suffix, on, unavailable, open }) =>
  SIZES.map(({ name, size, how, reach, beyond }) => ({
    name: name + suffix,
    title: `applyOnce, ${how}: an event${on}`,
    unit: 'µs',
    peer: 'the effect alone',
    better: 'lower' as const,
    ...{ reach, beyond, unavailable },
    measure: ({ rounds, seconds }) =>
      open(async (database) => {
        const isPostgres = database.startsWith('postgres:')
        const { store, effect, alone, close } = isPostgres ? await openPostgres(database) : openSqlite(database)
        try {
          await store.migrate()
          let after: string | null = null
          async function apply(events: AppliedEvent[]): Promise<void> {
            const position = events.at(-1)!.id
            const { applied } = await applyOnce(
              store,
              'bench',
              events,
              effect,
              size > 1 ? { after, position } : undefined,
            )
            if (applied !== events.length) throw new Error(`${applied} of ${events.length} events were applied`)
            after = position
          }
          const pairs = await interleaveWarm(
            rounds,
            () => timeEvents(seconds, size, apply),
            () => timeEvents(seconds, size, alone),
          )
          return pairs.map(({ service, peer }) => ({ service, peer }))
        } finally {
          await close()
        }
      }),
  })),
)
