import { ChatError } from '../core/errors.ts'
import { VERSION } from '../core/version.ts'
import { isDiskFull } from '../storage/errors.ts'
import { createAnswerMetrics, type TOKENS } from './answers.ts'
import { createBackupMetrics } from './backups.ts'
import { type ClockLevels, clockFamilies } from './clock.ts'
import { createClusterMetrics, type Source } from './cluster.ts'
import { type DatabaseLevels, databaseFamilies } from './database.ts'
import { createFileMetrics } from './files.ts'
import { createHistogram } from './histogram.ts'
import { createJobMetrics } from './jobs.ts'
import { type MachineLevels, machineFamilies } from './machine.ts'
import { createMcpMetrics, type McpOutcome } from './mcp.ts'
import { createCounter, type Family, formatPage, type Reading, readFamilies, single } from './page.ts'
import { createProcessMetrics } from './process.ts'
import { createProtocolMetrics, type Protocol } from './protocols.ts'
import { createRequestMetrics } from './requests.ts'
import { createSearchMetrics } from './search.ts'
import { createTaskMetrics } from './tasks.ts'
import { createWebhookMetrics, type WebhookLevels } from './webhooks.ts'

/** The metrics of a service. */
export interface Metrics {
  /** Counts the responses of a route, named by its template; keep the result. */
  route(method: string, template: string): (status: number, seconds: number | undefined) => void
  /** A request counted against the limit of that name. */
  limited(profile: string, allowed: boolean): void
  /** The duration of a transaction, from its request to its durable end. */
  write(seconds: number): void
  /** A transaction that failed because of the storage. */
  refused(reason: Refusal): void
  /** A request of any route, also of those without counters of their own, that failed because of the storage. */
  requestFailed(reason: Refusal): void
  /** Events sent to streams. */
  delivered(count: number): void
  /** A stream closed because its reader was too slow. */
  dropped(): void
  /** A stream of an answer in the format of a protocol; call the result once when it ends. */
  protocolStream(protocol: Protocol): () => void
  /** The time from a question to the first chunk of its answer. */
  firstDelta(seconds: number): void
  /** The end of an answer, by its status. */
  answered(status: string): void
  /** Tokens that an answer has used. */
  used(kind: (typeof TOKENS)[number], tokens: number): void
  /** The end of a call of a tool, by its state. */
  toolCalled(state: string): void
  /** What an answer cost, in millionths of the currency. */
  spent(micros: number): void
  /** A failed task that will be retried, by its kind. */
  taskFailed(kind: string): void
  /** Adds the series of repeated work; keep the result, which counts the end of a run. */
  job(name: string): (isDone: boolean) => void
  /** A message that the database refuses to take into the search index. */
  searchRefused(): void
  /** A post by an incoming hook. */
  hooked(): void
  /** A call of a webhook, by its outcome: `ok`, or why it failed. */
  webhookCalled(outcome: string): void
  /** The end of a call of a tool over MCP. */
  mcpCalled(tool: string, outcome: McpOutcome): void
  /** A file that the scanner refused. */
  fileRefused(): void
  /** A backup that failed and will be tried again. */
  backupFailed(): void
  /** The duration of a poll of the signals of other processes. */
  polled(seconds: number): void
  /** The number of conversations with new events that a poll has found. */
  foundNew(conversations: number): void
  /** The time from the commit of events to their delivery, once for those that are delivered together. */
  lagged(source: Source, seconds: number): void
  /** Ephemeral events and users whose presence has changed, passed on to other processes. */
  signalsSent(count: number): void
  /** Ephemeral events and changes of presence that could not be passed on. */
  signalsDropped(count: number): void
  /** The values of this process now. */
  read(levels: Levels): Promise<Reading[]>
  /** Has the page show what `source` returns, such as the values of several processes, instead of this process's. */
  collectFrom(source: () => Promise<Reading[]>): void
  /** The page in Prometheus' text format. */
  render(levels: () => Levels | Promise<Levels>): Promise<string>
  close(): void
}

/** Why the storage failed. */
export type Refusal = (typeof REFUSALS)[number]

/**
 * Why the storage failed, of an error of the storage, which has a cause; the errors of use-cases have none. To callers, the
 * full disk of PostgreSQL is `unavailable`, as other writes may fit; the operator must make room as for any other.
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof ChatError) || error.cause === undefined) return undefined
  if (error.code === 'unavailable') return isDiskFull(error.cause) ? 'storage_full' : 'unavailable'
  return error.code === 'storage_full' ? 'storage_full' : undefined
}

/** Values that are read when the page is rendered. */
export interface Levels extends MachineLevels {
  /** Default: trusted. */
  clock?: ClockLevels
  /** The number of open streams, and of calls that wait for events. */
  streams: number
  feed_waiting: number
  webhooks: WebhookLevels | undefined
  /** The number of answers in progress. */
  answers: number
  /** The number of processes that share the database. */
  nodes: number
  /** The number of log lines dropped so far. */
  log_lines_dropped: number
  /** The tasks that are due, by kind. */
  tasks: { kind: string; due: number; oldest_seconds: number }[] | undefined
  database: DatabaseLevels
  /** Whether the storage of files is missing. Default false. */
  files_missing?: boolean
  /** Changes of messages that the search index does not have yet. */
  search_waiting: number | undefined
  /** When the last backup was made, in seconds since 1970, and how long the next is due; 0 unless they are made by themselves. */
  backups: { last_success: number; overdue_seconds: number; is_missing?: boolean } | undefined
}

/** The groups of gauges that are absent from a page, as the database could not be read. */
function unreadIn({ tasks, backups, search_waiting, database: { sizes, rows, files } }: Levels): string[] {
  const groups = { tasks, backups, search_waiting, sizes, rows, files }
  return UNREADABLE.filter((group) => groups[group] === undefined)
}

const UNREADABLE = ['tasks', 'backups', 'search_waiting', 'sizes', 'rows', 'files'] as const

const WRITE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

const REFUSALS = ['unavailable', 'storage_full'] as const

/**
 * Counters of one service, and its page.
 *
 * @param database the kind of its database
 * @param taskKinds the kinds of tasks, each with a series from the start
 * @param mcpTools the tools of MCP, likewise
 */
export function createMetrics(
  database: string,
  taskKinds: readonly string[],
  mcpTools: readonly string[] = [],
): Metrics {
  const { families: requestFamilies, ...requests } = createRequestMetrics()
  const storage = createStorageMetrics()
  const streams = createStreamMetrics()
  const protocols = createProtocolMetrics()
  const answers = createAnswerMetrics()
  const tasks = createTaskMetrics(taskKinds)
  const jobs = createJobMetrics()
  const backups = createBackupMetrics()
  const search = createSearchMetrics()
  const files = createFileMetrics()
  const hooked = createCounter('chat_hook_posts_total', 'Messages that tools have posted by incoming hooks')
  const webhooks = createWebhookMetrics()
  const mcp = createMcpMetrics(mcpTools)
  const cluster = createClusterMetrics()
  const unread = createCounter(
    'chat_metrics_unread_total',
    'Groups of gauges that were absent from a page, as the database could not be read in time',
    'of',
    UNREADABLE,
  )
  const processMetrics = createProcessMetrics()
  const build = { version: VERSION, database, node_version: process.version }
  let source: (() => Promise<Reading[]>) | undefined
  /** In the order of the page. */
  const familiesOf = (levels: Levels): Family[] => [
    ...requestFamilies,
    ...storage.families,
    ...streams.families(levels),
    protocols.family,
    ...answers.families(() => levels.answers),
    ...tasks.families(levels),
    ...databaseFamilies(levels.database),
    unread.family,
    ...jobs.families,
    ...backups.families(levels),
    ...search.families(levels),
    ...files.families(levels),
    hooked.family,
    ...webhooks.families(levels.webhooks),
    mcp.family,
    ...cluster.families(levels),
    ...clockFamilies(levels.clock ?? { step: 0 }),
    ...machineFamilies(levels),
    ...logAndBuildFamilies(levels, build),
    ...processMetrics.families,
  ]

  async function read(levels: Levels): Promise<Reading[]> {
    for (const group of unreadIn(levels)) unread.add(group, 1)
    const readings = await readFamilies(familiesOf(levels))
    processMetrics.looked()
    return readings
  }

  return {
    ...requests,
    write: storage.write.of({}),
    refused: (reason) => storage.refused.add(reason, 1),
    requestFailed: (reason) => storage.failed.add(reason, 1),
    delivered: (count) => streams.delivered.add('', count),
    dropped: () => streams.dropped.add('', 1),
    protocolStream: protocols.opened,
    firstDelta: answers.firstDelta.of({}),
    answered: (outcome) => answers.answered.add(outcome, 1),
    used: (kind, tokens) => answers.used.add(kind, tokens),
    toolCalled: (state) => answers.called.add(state, 1),
    spent: (micros) => answers.spent.add('', micros),
    taskFailed: (kind) => tasks.failed.add(kind, 1),
    polled: cluster.poll.of({}),
    foundNew: cluster.newConversations.of({}),
    lagged: (source, seconds) => cluster.lags[source](seconds),
    job: jobs.job,
    searchRefused: () => search.refused.add('', 1),
    hooked: () => hooked.add('', 1),
    webhookCalled: webhooks.called,
    mcpCalled: mcp.called,
    fileRefused: () => files.refused.add('', 1),
    backupFailed: () => backups.failed.add('', 1),
    signalsSent: (count) => cluster.sent.add('', count),
    signalsDropped: (count) => cluster.dropped.add('', count),
    read,
    collectFrom(given) {
      source = given
    },
    render: async (levels) => formatPage(await (source ? source() : read(await levels()))),
    close: processMetrics.close,
  }
}

function createStorageMetrics() {
  const write = createHistogram<never>(
    'chat_storage_write_duration_seconds',
    'Time from asking for a transaction to its durable end',
    WRITE_BUCKETS,
  )
  const refused = createCounter(
    'chat_storage_writes_refused_total',
    'Transactions that the storage did not take',
    'reason',
    REFUSALS,
  )
  const failed = createCounter(
    'chat_storage_requests_failed_total',
    'Requests of all routes that failed because of the storage',
    'reason',
    REFUSALS,
  )
  return { write, refused, failed, families: [write.family, refused.family, failed.family] }
}

function createStreamMetrics() {
  const delivered = createCounter('chat_stream_deliveries_total', 'Events handed to streams')
  const dropped = createCounter('chat_streams_dropped_total', 'Streams closed because their reader fell behind')
  const families = (levels: Levels) => [
    single('gauge', 'chat_streams_open', 'Open event streams', () => levels.streams),
    single('gauge', 'chat_feed_waiting', 'Calls that wait for the next event of the feed', () => levels.feed_waiting),
    delivered.family,
    dropped.family,
  ]
  return { delivered, dropped, families }
}

function logAndBuildFamilies({ log_lines_dropped }: Levels, build: Record<string, string>): Family[] {
  const help = 'Log lines dropped because their reader was too slow'
  return [
    single('counter', 'chat_log_lines_dropped_total', help, () => log_lines_dropped),
    // With several workers, the sum is the number of workers on the page.
    single('gauge', 'chat_workers', 'Processes of the service on this page', () => 1),
    {
      name: 'chat_build_info',
      help: 'Always 1; the labels say what runs',
      type: 'gauge',
      together: 'max',
      read: () => [{ labels: build, value: 1 }],
    },
  ]
}
