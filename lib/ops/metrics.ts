import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What the service counts of itself. */
export interface Metrics {
  /** An answered request; `route` is the template, never the path. */
  request(method: string, route: string, status: number, seconds: number): void
  /** A transaction, from asking for it to its durable end. */
  write(seconds: number): void
  /** Events handed to streams. */
  delivered(count: number): void
  /** A stream closed because its reader fell behind. */
  dropped(): void
  /** The time from a question to the first piece of its answer. */
  firstDelta(seconds: number): void
  /** A request counted against the limit of that name. */
  limited(profile: string, allowed: boolean): void
  /** The end of an answer, by what has become of it. */
  answered(status: string): void
  /** The page in Prometheus' text format. `streams` is how many are open, `answers` how many are being written. */
  render(open: { streams: number; answers: number }): Promise<string>
  close(): void
}

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

/**
 * Counters of one service, in a registry of its own.
 *
 * Process figures are read when asked for: prom-client's own collection keeps observers that outlive the service.
 */
export function createMetrics(): Metrics {
  const registers = [new Registry()]
  const requests = new Histogram({
    name: 'chat_http_request_duration_seconds',
    help: 'Time to answer a request, by route template',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers,
  })
  const writes = new Histogram({
    name: 'chat_storage_write_duration_seconds',
    help: 'Time from asking for a transaction to its durable end',
    buckets: BUCKETS,
    registers,
  })
  const streams = new Gauge({ name: 'chat_streams_open', help: 'Open event streams', registers })
  const delivered = new Counter({ name: 'chat_stream_deliveries_total', help: 'Events handed to streams', registers })
  const dropped = new Counter({
    name: 'chat_streams_dropped_total',
    help: 'Streams closed because their reader fell behind',
    registers,
  })

  const firstDeltas = new Histogram({
    name: 'chat_assistant_first_delta_seconds',
    help: 'Time from a question to the first piece of its answer',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const answered = new Counter({
    name: 'chat_assistant_answers_total',
    help: 'Answers of the assistant that ended, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // Counted by hand: every request is, and finding a series by its labels takes longer than the limit itself.
  const decisions = new Map<string, { allowed: number; refused: number }>()
  new Counter({
    name: 'chat_rate_limit_decisions_total',
    help: 'Requests counted against a rate limit',
    labelNames: ['profile', 'decision'],
    registers,
    collect() {
      this.reset()
      for (const [profile, counts] of decisions)
        for (const [decision, count] of Object.entries(counts)) this.inc({ profile, decision }, count)
    },
  })
  const answers = new Gauge({ name: 'chat_assistant_running', help: 'Answers being written', registers })

  const delay = monitorEventLoopDelay({ resolution: 20 })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  gauge(
    'chat_event_loop_lag_p99_seconds',
    'Event-loop lag, 99th percentile since the last look',
    () => delay.percentile(99) / 1e9,
  )
  gauge('chat_process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss())
  gauge('chat_process_cpu_seconds', 'User and system time of the process', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })

  return {
    request: (method, route, status, seconds) => requests.observe({ method, route, status }, seconds),
    write: (seconds) => writes.observe(seconds),
    delivered: (count) => delivered.inc(count),
    dropped: () => dropped.inc(),
    firstDelta: (seconds) => firstDeltas.observe(seconds),
    limited(profile, allowed) {
      const counts = decisions.get(profile) ?? { allowed: 0, refused: 0 }
      if (allowed) counts.allowed++
      else counts.refused++
      decisions.set(profile, counts)
    },
    answered: (outcome) => answered.inc({ outcome }),
    async render(open) {
      // Watched from the first look on, so that a service nobody looks at has no timer for it.
      delay.enable()
      streams.set(open.streams)
      answers.set(open.answers)
      const page = await registers[0]!.metrics()
      delay.reset()
      return page
    },
    close: () => delay.disable(),
  }
}
