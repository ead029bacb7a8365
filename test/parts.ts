import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A call that starts a service on a database that another process can open, too. */
const START = /\b(startService|startNodes|startWithFiles|startTalk|describeService)\((?!'sqlite::memory:')/
const IMPORT =
  /\b(startService|startNodes|startWithFiles|startTalk|describeService)\b[^']*from '[^']*\/(service|describe-service|files|talks)\.ts'/

/** Every test file of `test`. */
export const files = readdirSync(`${ROOT}test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => `test/${name}`)

/** Whether a test file starts a service that `npm run test:nodes` can run as two nodes, or does so itself. */
export function startsService(file: string): boolean {
  const text = readFileSync(`${ROOT}${file}`, 'utf8')
  return (START.test(text) && IMPORT.test(text)) || text.includes('AS_TWO_NODES')
}

/**
 * What `npm run test:all` runs beside `npm test`: what starts processes, browsers and proxies by the dozen, or needs
 * packages of its own. Every test file is either in exactly one of these parts or in `npm test`.
 */
export const PARTS: Record<string, string[]> = {
  /** Processes that are killed, drained, and starved of disk, descriptors and connections. */
  fault: ['test/fault/**/*.test.ts'],
  /** The command line, a process for each command. */
  processes: [
    'test/cli/{administration,backups,beside,commands,copies,examples,file-copies,files,interrupted,main,malformed,no-links,outdated,permission,refused,serve-answers,serve-log,stopping,storage-usage,web-page}.test.ts',
    'test/cli/commands/{assistant,clock,conversation-copies,conversation-set,export,health,limits,mail,reload,serve,usage,user-import,vacuum}.test.ts',
    'test/cli/{cluster/primary,config/secrets,doctor/server,logging/file,server/systemd}.test.ts',
    'test/http/canary.test.ts',
    'test/accounts/jwt/pyjwt.test.ts',
  ],
  /** Two nodes, and readers that change between them; answers with tools against a model of their rules. */
  nodes: [
    'test/cluster/{bus,nodes,posts-at-once}.test.ts',
    'test/chat/presence/places.test.ts',
    'test/live/{all-order,nodes,order,read-then-follow,log/revocations}.test.ts',
    'test/model/answers.test.ts',
    'test/chat/conversations/deletion-nodes.test.ts',
  ],
  /** Timeouts that really pass, and databases with many rows. */
  long: [
    'test/chat/presence/many.test.ts',
    'test/http/lists-changing.test.ts',
    'test/ops/readiness.test.ts',
    'test/alerts/{alertmanager,short}.test.ts',
    'test/storage/{amid-failures,archive/import,pgbouncer,postgres,postgres-refused}.test.ts',
  ],
  /** Pages in Chromium. */
  browser: ['test/browser/*.test.ts', 'test/examples/{browser,react,ten-minutes}.test.ts'],
  /** The examples, a process each, proxies in front of the service, and the code in the documentation. */
  examples: ['test/examples/{running,deploy,image,documentation,openai-python,receivers}.test.ts'],
  /** An example that is a package of its own. */
  'custom-assistant': ['examples/custom-assistant/*.test.ts'],
  /** Two nodes with a message bus, each a package of its own. */
  'bus-nats': ['examples/bus-nats/*.test.ts'],
  'bus-valkey': ['examples/bus-valkey/*.test.ts'],
  /** ClamAV, where it is installed, and sharp. */
  'file-checks': ['examples/file-checks/*.test.ts'],
  /** Drizzle and Kysely. */
  orm: ['examples/orm/*.test.ts'],
  /** An MCP server, whose tools the assistant may use. */
  'mcp-tools': ['examples/mcp-tools/*.test.ts'],
  /** The frameworks and logins of hosts. */
  frameworks: ['examples/frameworks/*.test.ts'],
  /** Linters of the OpenAPI document, a client that is made from it, the published types in an editor, the AI SDK, assistant-ui, and AG-UI. */
  tools: ['test/tools/*.test.ts', 'test/examples/{use-chat,ag-ui,assistant-ui}.test.ts'],
  /** Clients that generators make of the OpenAPI document, where Go, Java, Python and their packages are. */
  clients: ['test/clients/*.test.ts'],
}

/** The parts whose files share the modules they import, in a worker, as those of `npm test` do. */
export const SHARING = ['fault', 'processes', 'nodes', 'long', 'browser']

/** What runs only where it is named: it installs hundreds of megabytes, or takes many minutes. */
export const ON_DEMAND: Record<string, string[]> = {
  vue: ['examples/vue/*.test.ts'],
  svelte: ['examples/svelte/*.test.ts'],
  /** Examples that are built: Nitro and Next. */
  'built-frameworks': ['test/frameworks/*.test.ts'],
  /** Every alert, by an outage that Prometheus sees. */
  alerts: ['test/alerts/all.test.ts'],
}

/** Tests of `browser` that run again in Firefox, where it is installed; only where the part is named. */
export const IN_FIREFOX: Record<string, string[]> = {
  firefox: ['test/browser/{consent,answers}.test.ts'],
}

/** What goes through a service of `startService` from its start to its end. */
const PLACED_ALL = [
  'test/accounts/*/*.test.ts',
  'test/assistant/*.test.ts',
  'test/chat/!(notifications|presence)/*.test.ts',
  // Without the one whose processes are started on plain tables.
  'test/chat/presence/!(places).test.ts',
  // Without the one that counts the timers of its process.
  'test/chat/notifications/!(host-queue).test.ts',
  'test/client/create.test.ts',
  'test/erasure/*.test.ts',
  'test/limits/*.test.ts',
  // Without the one whose processes are started on plain tables.
  'test/live/**/!(nodes).test.ts',
  'test/mail/*.test.ts',
  'test/openai-api/*.test.ts',
]

/** What reaches PostgreSQL: services, commands, and the storage itself. */
const POOLED_ALL = [
  ...PLACED_ALL,
  'test/backups/*.test.ts',
  // Without those of `doctor`, whose names of statements stay on connections of the pooler: `doctor/pooler` is about it.
  'test/cli/{administration,backups,beside,commands,copies,outdated,stopping}.test.ts',
  'test/cli/{cluster/primary,commands/reload,commands/user-import,commands/vacuum,config/secrets}.test.ts',
  'test/client/store/two-people.test.ts',
  'test/chat/presence/places.test.ts',
  // Without the signals of SQLite.
  'test/cluster/!(signals).test.ts',
  'test/http/{canary,contract,input,lists,lists-changing,trouble}.test.ts',
  'test/live/nodes.test.ts',
  'test/ops/{file-check,fsck,invariants-attachments,readiness,retention,routes}.test.ts',
  'test/{operator,service,shared-transaction,shared-transaction-flush,shared-transaction-undone}.test.ts',
  // Without those of names of prepared statements, which a pooler makes impossible (`postgres-options`), and those that
  // stop and cut off a server of their own (`postgres`).
  'test/storage/{amid-failures,conformance,open,placement,removal-canary}.test.ts',
  'test/storage/{archive/backup,archive/import,schema/migrate,schema/migrations,schema/verify}.test.ts',
  'test/tasks/*.test.ts',
]

/** Tests of other parts and of `npm test`, which run again: there, each service is two nodes (`test/support/node-pair.ts`). */
export const TWO_NODES: Record<string, string[]> = {
  /** In CI: the most telling ones. */
  'two-nodes': [
    'test/chat/presence/{audience,routes}.test.ts',
    'test/chat/conversations/routes.test.ts',
    'test/live/{closing,stream}.test.ts',
  ],
  /** Every file that starts a service, but for those with a reason in `test/support/one-process.ts`. */
  'two-nodes-all': files.filter(startsService),
}

/**
 * Tests of other parts and of `npm test`, which run again on tables with a prefix, in a schema, and on PostgreSQL behind a
 * PgBouncer in transaction mode (`test/support/placement.ts`).
 */
export const PLACED: Record<string, string[]> = {
  /** In CI: the most telling ones. */
  prefix: ['test/chat/messages/batch.test.ts'],
  schema: ['test/chat/messages/batch.test.ts', 'test/live/feed/feed.test.ts'],
  pooled: ['test/chat/messages/routes.test.ts', 'test/live/feed/feed.test.ts', 'test/shared-transaction.test.ts'],
  'prefix-all': PLACED_ALL,
  'schema-all': PLACED_ALL,
  'pooled-all': POOLED_ALL,
}

/** The folder of a part whose packages are installed before it runs. */
export const PACKAGES: Record<string, string> = {
  'custom-assistant': 'examples/custom-assistant',
  'bus-nats': 'examples/bus-nats',
  'bus-valkey': 'examples/bus-valkey',
  'file-checks': 'examples/file-checks',
  orm: 'examples/orm',
  'mcp-tools': 'examples/mcp-tools',
  frameworks: 'examples/frameworks',
  vue: 'examples/vue',
  svelte: 'examples/svelte',
  tools: 'test/tools',
}

/** Of `npm test`: measure the memory of their process, count its timers, or change what is the whole process's. */
export const ISOLATED = [
  'test/accounts/passwords/hash-queue.test.ts',
  'test/assistant/{hang-up,trouble}.test.ts',
  'test/chat/notifications/host-queue.test.ts',
  'test/cli/logging/sink.test.ts',
  'test/client/store/search.test.ts',
  'test/http/{node/listen,response/stalls,texts}.test.ts',
  'test/live/slow.test.ts',
  'test/metrics/registry.test.ts',
  'test/storage/{node-sqlite,open,sqlite/database}.test.ts',
]
