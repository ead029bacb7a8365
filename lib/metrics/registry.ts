import { Counter, Gauge, Registry } from 'prom-client'
import { VERSION } from '../core/version.ts'
import { createHistogram } from './histogram.ts'
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

/** What is read when somebody looks. */
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
 * Counters of one service, in a registry of its own.
 *
 * @param database which kind of database it is on
 * @param taskKinds the kinds of tasks, each of which has its series from the start
 */
export function createMetrics(database: string, taskKinds: readonly string[]): Metrics {
  const registry = new Registry()
  /** With a series for each value of its label from the start: a rate sees no step from nothing to one. */
  const counter = (name: string, help: string, label?: string, values: readonly string[] = []) => {
    const made = new Counter({ name, help, labelNames: label ? [label] : [], registers: [registry] })
    for (const value of values) made.inc({ [label!]: value }, 0)
    return made
  }
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const histogram = (name: string, help: string, buckets: number[]) =>
    createHistogram<never>(registry, { name, help, buckets }).of({})

  const requests = createRequestMetrics(registry)
  const write = histogram(
    'chat_storage_write_duration_seconds',
    'Time from asking for a transaction to its durable end',
    WRITE_BUCKETS,
  )
  const refused = counter(
    'chat_storage_writes_refused_total',
    'Transactions that the storage did not take',
    'reason',
    REFUSALS,
  )
  const streams = gauge('chat_streams_open', 'Open event streams')
  const delivered = counter('chat_stream_deliveries_total', 'Events handed to streams')
  const dropped = counter('chat_streams_dropped_total', 'Streams closed because their reader fell behind')
  const firstDelta = histogram(
    'chat_assistant_first_delta_seconds',
    'Time from a question to the first piece of its answer',
    DELTA_BUCKETS,
  )
  const answered = counter(
    'chat_assistant_answers_total',
    'Answers of the assistant that ended, by outcome',
    'outcome',
    OUTCOMES,
  )
  const answers = gauge('chat_assistant_running', 'Answers being written')
  const taskFailed = counter(
    'chat_tasks_failed_total',
    'Tasks in the background that failed and are tried again',
    'kind',
    taskKinds,
  )
  const tasksDue = gauge('chat_tasks_due', 'Tasks in the background that wait for a process or are worked on', ['kind'])
  const tasksOldest = gauge('chat_tasks_oldest_seconds', 'How long the oldest of those tasks has been due', ['kind'])
  const linesDropped = counter('chat_log_lines_dropped_total', 'Lines of the log that nobody took in time')
  const build = { version: VERSION, database, node_version: process.version }
  gauge('chat_build_info', 'Always 1; the labels say what runs', Object.keys(build)).set(build, 1)
  const processMetrics = createProcessMetrics(registry)

  return {
    ...requests,
    write,
    refused: (reason) => refused.inc({ reason }),
    delivered: (count) => delivered.inc(count),
    dropped: () => dropped.inc(),
    firstDelta,
    taskFailed: (kind) => taskFailed.inc({ kind }),
    answered: (outcome) => answered.inc({ outcome }),
    async render(levels) {
      streams.set(levels.streams)
      answers.set(levels.answers)
      for (const kind of taskKinds) {
        const level = levels.tasks.find((each) => each.kind === kind)
        tasksDue.set({ kind }, level?.due ?? 0)
        tasksOldest.set({ kind }, Number(level?.oldest_seconds ?? 0))
      }
      linesDropped.reset()
      linesDropped.inc(levels.log_lines_dropped)
      const page = await registry.metrics()
      processMetrics.looked()
      return page
    },
    close: processMetrics.close,
  }
}
