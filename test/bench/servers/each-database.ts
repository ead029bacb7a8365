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

/** What the rows of a database have in common. */
interface Labels {
  /** What their names end with. */
  suffix: string
  /** What their titles end with. */
  on: string
  unavailable: NonNullable<Row['unavailable']>
}

/** One of the databases. */
export interface OnDatabase<T> extends Labels {
  /** Measures once for all rows that show it. */
  measure: (bench: Bench) => Promise<T>
}

/** SQLite and PostgreSQL: `open` gives `work` a new database, and the processes of its server. */
export const DATABASES: (Labels & {
  open: <T>(work: (database: string, pids: number[]) => Promise<T>) => Promise<T>
})[] = [
  { suffix: '', on: '', unavailable: processFiguresMissing, open: (work) => work(newDatabase(), []) },
  {
    suffix: '-pg',
    on: ', on PostgreSQL',
    unavailable: () => postgresMissing() ?? processFiguresMissing(),
    open: (work) => withPostgres(async ({ pid, create }) => work(await create(), [pid])),
  },
]

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
  return DATABASES.map(({ open, ...labels }) => {
    return { ...labels, measure: oncePerBench((bench) => open((database, pids) => run(bench, database, pids))) }
  })
}
