import type { Config } from '../../lib/config/parse.ts'
import { describeStep } from '../../lib/core/clock-trust.ts'
import type { DatabaseFacts } from '../../lib/storage/inspect.ts'
import type { ConnectionLimit } from '../../lib/storage/postgres/connections.ts'
import type { MigrationState } from '../../lib/storage/schema/migrate.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'
import type { FindingCode } from './findings.ts'

const OLDEST_POSTGRES = 130_000

/** Processes compare timestamps of each other: with a larger difference, sessions end early or late. */
const CLOCK_MS = 5_000

/** The findings about an open database. */
export function judgeDatabase(
  facts: DatabaseFacts,
  { cluster, database, storage }: Pick<Config, 'cluster' | 'database' | 'storage'>,
): Finding[] {
  const { version, version_number, distributed, settings, read_only, ahead_ms } = facts
  if (distributed) return [judgeDistributed(distributed)]
  const findings: Finding[] = []
  if (version_number !== undefined && version_number < OLDEST_POSTGRES) {
    findings.push(failure('database.old_version', `PostgreSQL ${version} is too old.`, 'Use PostgreSQL 13 or later.'))
  }
  if (read_only) {
    findings.push(
      failure(
        'database.read_only',
        'The database refuses writes: it is a standby, or default_transaction_read_only is on.',
        'Set database.url to the address of the primary.',
      ),
    )
  }
  if (settings.server_encoding !== undefined && settings.server_encoding !== 'UTF8') {
    findings.push(
      failure(
        'database.not_utf8',
        `The database is in ${settings.server_encoding}, which cannot store every text.`,
        'Create a database with ENCODING UTF8, and move the data with "chat-server export" and "import".',
      ),
    )
  }
  const isolation = settings.default_transaction_isolation
  if (isolation !== undefined && isolation !== 'read committed') {
    findings.push(
      note(
        'database.isolation',
        `The default isolation of the role or the database is ${isolation}. The service uses read committed all the same.`,
        'Nothing needs to be done. Transactions of your application in which it calls the service have the isolation that they begin with.',
      ),
    )
  }
  return [
    ...findings,
    ...judgeDurability(settings, storage.durability),
    ...judgeConnections(facts, database.pool_size, cluster.workers),
    ...judgeClock('database.clock', ahead_ms),
  ]
}

/** The service would start on some of these, and lose the order of events without an error. */
function judgeDistributed(name: string): Finding {
  return failure(
    'database.distributed',
    `The database is ${name}, not PostgreSQL: messages may be lost or reordered.`,
    'Use a PostgreSQL server without it: docs/guides/sizing.md#distributed-sql has the reasons, and how the service grows.',
  )
}

/** Compares the connections that a service, and all running nodes, may open with those that it may have. */
function judgeConnections({ connections, nodes = 0 }: DatabaseFacts, poolSize: number, workers: number): Finding[] {
  if (connections === undefined) return []
  const { free } = connections
  const each = poolSize * workers
  const [one, many] =
    workers === 1
      ? [`a process opens up to ${each} (database.pool_size)`, 'processes']
      : [`a service of ${workers} workers opens up to ${each} (cluster.workers × database.pool_size)`, 'such services']
  const running = nodes > 1 ? ` ${nodes} nodes are running, and together open up to ${nodes * poolSize}.` : ''
  const [limit, raise] = describeLimit(connections)
  const message = `${limit}; ${one}.${running}`
  const enough = Math.floor(free / each)
  if (enough > 0 && nodes * poolSize <= free)
    return [ok('database.connections', `${message} That is enough for ${enough} ${many}.`)]
  const fewer = `database.pool_size${workers > 1 ? ' or cluster.workers' : ''}`
  const remedy = `Lower ${fewer}, ${raise}, or put PgBouncer in front of it.`
  return [warning('database.few_connections', message, remedy)]
}

/** What permits the fewest connections, and what raises that limit. */
function describeLimit({ free, by, name }: ConnectionLimit): [limit: string, raise: string] {
  const count = `${free} connections for services`
  if (by === 'server') return [`The server has ${count} (max_connections)`, 'raise max_connections of PostgreSQL']
  const raise = `raise the limit (ALTER ${by.toUpperCase()} … CONNECTION LIMIT)`
  return [`The ${by} ${name} has ${count} (CONNECTION LIMIT)`, raise]
}

function judgeDurability(settings: Record<string, string>, durability: 'full' | 'os'): Finding[] {
  const findings: Finding[] = []
  const switches = { fsync: 'database.fsync_off', synchronous_commit: 'database.synchronous_commit_off' } as const
  for (const [name, code] of Object.entries(switches)) {
    if (settings[name] !== 'off') continue
    const message = `PostgreSQL runs with ${name} = off and may lose acknowledged messages.`
    const remedy = `Set ${name} = on in postgresql.conf and reload it.`
    // `serve` refuses to start otherwise.
    findings.push(durability === 'os' ? note(code, message, remedy) : failure(code, message, remedy))
  }
  if (settings.full_page_writes === 'off') {
    findings.push(
      warning(
        'database.full_page_writes_off',
        'PostgreSQL runs with full_page_writes = off: a power cut may damage the database beyond repair.',
        'Set full_page_writes = on in postgresql.conf and reload it.',
      ),
    )
  }
  if (settings.journal_mode !== undefined && settings.journal_mode !== 'wal') {
    findings.push(
      warning(
        'database.journal_mode',
        `SQLite keeps its journal as ${settings.journal_mode}, not as WAL.`,
        'Use a file on a disk of this machine: memory and some network file systems do not support WAL.',
      ),
    )
  }
  return findings.length > 0 ? findings : [ok('database.durable', 'Acknowledged writes survive a power cut.')]
}

/** Compares a clock with the clock of this machine. No finding if the difference is unknown. */
export function judgeClock(code: FindingCode, aheadMs: number | undefined): Finding[] {
  if (aheadMs === undefined) return []
  if (Math.abs(aheadMs) <= CLOCK_MS) return [ok(code, 'Its clock agrees with the clock of this machine.')]
  return [
    warning(
      code,
      `Its clock is ${describeStep(aheadMs * 1000)}${aheadMs > 0 ? ' of' : ''} the clock of this machine.`,
      'Synchronise all machines by NTP: sessions and limits depend on the clock.',
    ),
  ]
}

/** Checks that the schema is the one of this program. */
export function judgeSchema(steps: MigrationState[]): Finding {
  const changed = steps.find((step) => step.differs === 'changed')
  if (changed)
    return failure(
      'database.schema_changed',
      `Migration ${changed.name} is not the one this database was made with.`,
      'Use the version of chat-server that made the database, and upgrade from there.',
    )
  const pending = steps.filter((step) => !step.applied_at)
  const newest = steps.at(-1)!
  if (pending.length === 0 && newest.differs === 'newer')
    return note(
      'database.schema_newer',
      `The schema (${newest.name}) is newer than this program, which ignores what was added.`,
    )
  if (pending.length === 0) return ok('database.schema', `The schema is up to date (${steps.at(-1)!.name}).`)
  const isEmpty = pending.length === steps.length
  return failure(
    isEmpty ? 'database.empty' : 'database.schema_old',
    isEmpty ? 'The database is empty.' : `The schema is older than this program: ${pending[0]!.name} is pending.`,
    isEmpty ? 'Start the service, or run "chat-server setup".' : 'Run "chat-server migrate", or restart the service.',
  )
}
