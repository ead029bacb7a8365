import { VERSION } from '../core/version.ts'
import { createHistogram } from './histogram.ts'
import { createCounter, type Family, renderPage, single } from './page.ts'
import { createProcessMetrics } from './process.ts'
import { createRequestMetrics } from './requests.ts'

/** What the service counts of itself. */
export interface Metrics {
  /** What counts the answers of a route, which is named by its template; hold on to it. */
  route(method: string, template: string): (status: number, seconds: number) => void
  /** A request counted against the limit of that name. */
  limited(profile: string, allowed: boolean): void
  /** A transaction, from asking for it to its durable end. */
  write(seconds: number): void
  /** A transaction that the storage did not take. */
  refused(reason: Refusal): void
  /** Events handed to streams. */
  delivered(count: number): void
  /** A stream closed because its reader fell behind. */
  dropped(): void
  /** The time from a question to the first piece of its answer. */
  firstDelta(seconds: number): void
  /** The end of an answer, by what has become of it. */
  answered(status: string): void
  /** A task that failed and is tried again, by its kind. */
  taskFailed(kind: string): void
  /** The page in Prometheus' text format. */
  render(levels: Levels): Promise<string>
  close(): void
}

/** Why the storage took nothing. */
export type Refusal = (typeof REFUSALS)[number]

/** What is read when the page is rendered. */
export interface Levels {
  /** How many streams are open. */
  streams: number
  /** How many answers are being written. */
  answers: number
  /** How many lines the log has lost so far. */
  log_lines_dropped: number
  /** The tasks that are due, by kind. */
  tasks: { kind: string; due: number; oldest_seconds: number }[]
}

const WRITE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]
const DELTA_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const REFUSALS = ['unavailable', 'storage_full'] as const
const OUTCOMES = ['complete', 'failed', 'interrupted', 'cancelled']

/**
 * Counters of one service, and its page.
 *
 * @param database which kind of database it is on
 * @param taskKinds the kinds of tasks, each of which has its series from the start
 */
export function createMetrics(database: string, taskKinds: readonly string[]): Metrics {
  const { families: requestFamilies, ...requests } = createRequestMetrics()
  const storage = createStorageMetrics()
  const streams = createStreamMetrics()
  const answers = createAnswerMetrics()
  const tasks = createTaskMetrics(taskKinds)
  const processMetrics = createProcessMetrics()
  const build = { version: VERSION, database, node_version: process.version }
  /** In the order of the page. */
  const familiesOf = (levels: Levels): Family[] => [
    ...requestFamilies,
    ...storage.families,
    ...streams.families(levels),
    ...answers.families(levels),
    ...tasks.families(levels),
    ...logAndBuildFamilies(levels, build),
    ...processMetrics.families,
  ]

  return {
    ...requests,
    write: storage.write.of({}),
    refused: (reason) => storage.refused.add(reason, 1),
    delivered: (count) => streams.delivered.add('', count),
    dropped: () => streams.dropped.add('', 1),
    firstDelta: answers.firstDelta.of({}),
    answered: (outcome) => answers.answered.add(outcome, 1),
    taskFailed: (kind) => tasks.failed.add(kind, 1),
    async render(levels) {
      const page = await renderPage(familiesOf(levels))
      processMetrics.looked()
      return page
    },
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
  return { write, refused, families: [write.family, refused.family] }
}

function createStreamMetrics() {
  const delivered = createCounter('chat_stream_deliveries_total', 'Events handed to streams')
  const dropped = createCounter('chat_streams_dropped_total', 'Streams closed because their reader fell behind')
  const families = (levels: Levels) => [
    single('gauge', 'chat_streams_open', 'Open event streams', () => levels.streams),
    delivered.family,
    dropped.family,
  ]
  return { delivered, dropped, families }
}

function createAnswerMetrics() {
  const firstDelta = createHistogram<never>(
    'chat_assistant_first_delta_seconds',
    'Time from a question to the first piece of its answer',
    DELTA_BUCKETS,
  )
  const answered = createCounter(
    'chat_assistant_answers_total',
    'Answers of the assistant that ended, by outcome',
    'outcome',
    OUTCOMES,
  )
  const families = (levels: Levels) => [
    firstDelta.family,
    answered.family,
    single('gauge', 'chat_assistant_running', 'Answers being written', () => levels.answers),
  ]
  return { firstDelta, answered, families }
}

function createTaskMetrics(kinds: readonly string[]) {
  const failed = createCounter(
    'chat_tasks_failed_total',
    'Tasks in the background that failed and are tried again',
    'kind',
    kinds,
  )
  return { failed, families: (levels: Levels) => [failed.family, ...taskFamilies(kinds, levels)] }
}

function logAndBuildFamilies({ log_lines_dropped }: Levels, build: Record<string, string>): Family[] {
  const help = 'Lines of the log that nobody took in time'
  return [
    single('counter', 'chat_log_lines_dropped_total', help, () => log_lines_dropped),
    {
      name: 'chat_build_info',
      help: 'Always 1; the labels say what runs',
      type: 'gauge',
      read: () => [{ labels: build, value: 1 }],
    },
  ]
}

function taskFamilies(kinds: readonly string[], { tasks }: Levels): Family[] {
  const gauge = (name: string, help: string, read: (level: Levels['tasks'][number]) => number): Family => ({
    name,
    help,
    type: 'gauge',
    read: () =>
      kinds.map((kind) => {
        const level = tasks.find((each) => each.kind === kind)
        return { labels: { kind }, value: level ? read(level) : 0 }
      }),
  })
  return [
    gauge('chat_tasks_due', 'Tasks in the background that wait for a process or are worked on', ({ due }) => due),
    gauge('chat_tasks_oldest_seconds', 'How long the oldest of those tasks has been due', ({ oldest_seconds }) =>
      Number(oldest_seconds),
    ),
  ]
}
