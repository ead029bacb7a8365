import { ReceiveError } from './receive-error.ts'
import { receiveSchema } from './receive-schema.ts'
import { KEPT_DAYS, type ReceiveStore, type ReceiveUnit } from './receive-store.ts'

/** What effects get: a connection of `pg` inside the transaction of the kit. */
export interface PgTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: rows are of any shape, as those of `pg`
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null; command: string }>
}

/** A connection that `pg` lends. */
export interface PgPoolClient extends PgTransaction {
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  release(error?: Error | boolean): void
}

/** What the kit needs of a `Pool` of `pg`. */
export interface PgPool {
  connect(): Promise<PgPoolClient>
}

/** How often a unit is tried that PostgreSQL has rolled back for another one. */
const MAX_ATTEMPTS = 5

/** After how many units of a process old ids are deleted. */
const UNITS_PER_PRUNING = 1000

/** How many old ids are deleted at a time: one unit must not wait for a month of them. */
const MAX_PRUNED = 10_000

/** A number of ours, so that two processes do not create the tables at the same time: `IF NOT EXISTS` alone fails then. */
const MIGRATION_LOCK = 5_732_210_841

// PostgreSQL: serialization_failure, deadlock_detected.
const ROLLED_BACK_FOR_OTHERS = ['40001', '40P01']

const INSERT = `INSERT INTO chat_received (source, id)
SELECT $1, id FROM unnest($2::text[]) AS id
ON CONFLICT DO NOTHING
RETURNING id`

const CREATE_POSITION = 'INSERT INTO chat_receive_positions (source) VALUES ($1) ON CONFLICT DO NOTHING'

const MOVE_PULLED = `UPDATE chat_receive_positions SET pulled = $2
WHERE source = $1 AND pulled IS NOT DISTINCT FROM $3`

const MOVE_PUSHED = 'UPDATE chat_receive_positions SET pushed = $2 WHERE source = $1'

// Rows that another process is deleting are left to it.
const PRUNE = `DELETE FROM chat_received WHERE (source, id) IN (
  SELECT source, id FROM chat_received WHERE at < now() - interval '${KEPT_DAYS} days'
  LIMIT ${MAX_PRUNED} FOR UPDATE SKIP LOCKED)`

/** Keeps what was received in PostgreSQL, by a `Pool` of `pg`. Effects get the connection with the transaction. */
export function pgStore(pool: PgPool): ReceiveStore<PgTransaction> {
  if (typeof pool?.connect !== 'function')
    throw new ReceiveError('malformed', "pgStore: pass a Pool of pg: pgStore(new Pool({ connectionString: '…' }))")
  let units = 0

  async function withClient<T>(work: (client: PgPoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    // A connection that dies between two statements emits it, and without a listener it ends the process.
    client.on('error', ignore)
    let failure: Error | undefined
    try {
      return await work(client)
    } catch (error) {
      failure = error as Error
      throw error
    } finally {
      client.off('error', ignore)
      // A connection after a failure may still be in a transaction: the pool closes it.
      client.release(failure)
    }
  }

  async function attempt({ source, ids, run, move }: ReceiveUnit<PgTransaction>): Promise<number | undefined> {
    const isPruning = units++ % UNITS_PER_PRUNING === 0
    return await withClient(async (client) => {
      // Whatever the pool's default is: only here an id that another transaction commits meanwhile is a conflict.
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      try {
        if (isPruning) await client.query(PRUNE)
        if (move) {
          const values = move.cursor === 'pulled' ? [source, move.to, move.from] : [source, move.to]
          await client.query(CREATE_POSITION, [source])
          const moved = await client.query(move.cursor === 'pulled' ? MOVE_PULLED : MOVE_PUSHED, values)
          if (moved.rowCount === 0) return await rollBack(client)
        }
        const inserted = await insert(client, source, ids)
        for (const id of ids) if (inserted.has(id)) await run(client, id)
        await commit(client)
        return inserted.size
      } catch (error) {
        await rollBack(client).catch(ignore)
        throw error
      }
    })
  }

  return {
    migrate: () =>
      withClient(async (client) => {
        // One message with several statements is one transaction.
        await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});\n${receiveSchema('postgres')}`)
      }),
    positions: (source) =>
      withClient(async (client) => {
        const text = 'SELECT pulled, pushed FROM chat_receive_positions WHERE source = $1'
        const { pulled, pushed } = (await client.query(text, [source])).rows[0] ?? {}
        return { ...(pulled && { pulled }), ...(pushed && { pushed }) }
      }),
    async apply(unit) {
      for (let left = MAX_ATTEMPTS - 1; ; left--) {
        try {
          return await attempt(unit)
        } catch (error) {
          if (left === 0 || !ROLLED_BACK_FOR_OTHERS.includes((error as { code?: string }).code!)) throw error
        }
      }
    },
    forget: (source, { since, position }) =>
      withClient(async (client) => {
        // One statement: both or neither.
        await client.query(
          `WITH moved AS (
  INSERT INTO chat_receive_positions (source, pulled) SELECT $1, $3 WHERE $3::text IS NOT NULL
  ON CONFLICT (source) DO UPDATE SET pulled = $3)
DELETE FROM chat_received WHERE source = $1 AND at >= $2`,
          [source, since, position ?? null],
        )
      }),
  }
}

/** By bytes, as all do it: two units with the same ids then wait for each other, and never both. */
async function insert(client: PgTransaction, source: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { rows } = await client.query(INSERT, [source, [...ids].sort()])
  return new Set(rows.map(({ id }) => id))
}

async function commit(client: PgTransaction): Promise<void> {
  // After a statement that failed, and whose error the effect has caught, COMMIT rolls back and reports no error.
  const { command } = await client.query('COMMIT')
  if (command !== 'COMMIT')
    throw new ReceiveError(
      'not_atomic',
      'The effect caught the error of a statement: all is rolled back. Let it throw, or use a SAVEPOINT',
    )
}

async function rollBack(client: PgTransaction): Promise<undefined> {
  await client.query('ROLLBACK')
}

function ignore(): void {}
