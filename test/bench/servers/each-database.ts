import { processFiguresMissing } from '../machine.ts'
import { type Bench, oncePerBench, type Row } from '../row.ts'
import { postgresMissing, withPostgres } from './databases.ts'
import { newDatabase, startBareService } from './service.ts'

/** A running service. */
export interface Running {
  port: number
  /** The processes whose CPU counts: those of the service and of its database. */
  pid: number[]
}

type Prepare<T> = (database: string, bench: Bench) => Promise<(service: Running) => Promise<T>>

/** One of the databases. */
export interface OnDatabase<T> {
  /** What the names of its rows end with. */
  suffix: string
  /** What the titles of its rows end with. */
  on: string
  unavailable: NonNullable<Row['unavailable']>
  /** Measures once for all rows that show it. */
  measure: (bench: Bench) => Promise<T>
}

/**
 * The same on SQLite and on PostgreSQL.
 *
 * @param prepare fills a new database. @returns what measures the service on it
 * @param more of the service's environment
 */
export function onEachDatabase<T>(prepare: Prepare<T>, more: NodeJS.ProcessEnv = {}): OnDatabase<T>[] {
  async function run(bench: Bench, database: string, pids: number[]): Promise<T> {
    const measure = await prepare(database, bench)
    const server = await startBareService(bench.command, database, more)
    try {
      return await measure({ port: server.port, pid: [server.pid, ...pids] })
    } finally {
      await server.stop()
    }
  }
  return [
    {
      suffix: '',
      on: '',
      unavailable: processFiguresMissing,
      measure: oncePerBench((bench) => run(bench, newDatabase(), [])),
    },
    {
      suffix: '-pg',
      on: ', on PostgreSQL',
      unavailable: () => postgresMissing() ?? processFiguresMissing(),
      measure: oncePerBench((bench) => withPostgres(async ({ pid, create }) => run(bench, await create(), [pid]))),
    },
  ]
}
