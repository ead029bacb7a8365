import { readdir, readFileSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { type Family, single } from './page.ts'

/** The interval of the measurement of the event loop's delay. */
const RESOLUTION_MS = 20

/** Measures the process as long as metrics are read. */
export interface ProcessMetrics {
  families: Family[]
  /** Called after each page: the measurement restarts. */
  looked(): void
  close(): void
}

/**
 * Metrics of the process, with the names that Prometheus' client libraries use.
 *
 * They are read on demand: no observer outlives the service.
 */
export function createProcessMetrics(): ProcessMetrics {
  const families: Family[] = []
  const gauge = (name: string, help: string, read: () => number | undefined | Promise<number | undefined>) =>
    families.push(single('gauge', name, help, async () => (await read()) ?? 0))
  const seconds = (name: string, help: string, read: (used: NodeJS.CpuUsage) => number) =>
    families.push(single('counter', name, help, () => read(process.cpuUsage()) / 1e6))

  const worst = (...[name, help, read]: Parameters<typeof gauge>) => {
    gauge(name, help, read)
    families.at(-1)!.together = 'max'
  }

  let delay: IntervalHistogram | undefined
  // Node measures the time between two ticks, which is the resolution if there is no delay.
  const lag = (nanoseconds = 0) => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
  let busy = performance.eventLoopUtilization()

  seconds('process_cpu_user_seconds_total', 'User time of the process', ({ user }) => user)
  seconds('process_cpu_system_seconds_total', 'System time of the process', ({ system }) => system)
  seconds('process_cpu_seconds_total', 'User and system time of the process', ({ user, system }) => user + system)
  const started = Math.round(performance.timeOrigin / 1000)
  worst('process_start_time_seconds', 'When the process started, in seconds since 1970', () => started)
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss())
  gauge('process_open_fds', 'Open file descriptors, on Linux', countOpenFiles)
  gauge('process_max_fds', 'How many file descriptors may be open, on Linux', findOpenFilesLimit)
  gauge('nodejs_heap_size_used_bytes', 'Used heap of JavaScript', () => process.memoryUsage().heapUsed)
  gauge('nodejs_heap_size_total_bytes', 'Heap of JavaScript', () => process.memoryUsage().heapTotal)
  gauge('nodejs_external_memory_bytes', 'Memory outside the heap', () => process.memoryUsage().external)
  worst('nodejs_eventloop_lag_p50_seconds', 'Median of event-loop lag since the last look', () =>
    lag(delay?.percentile(50)),
  )
  worst('nodejs_eventloop_lag_p99_seconds', '99th percentile of event-loop lag since the last look', () =>
    lag(delay?.percentile(99)),
  )
  worst('nodejs_eventloop_lag_max_seconds', 'Longest event-loop lag since the last look', () => lag(delay?.max))
  worst(
    'nodejs_eventloop_utilization',
    'Share of the time since the last look in which the event loop was busy, 0 to 1',
    () => performance.eventLoopUtilization(busy).utilization,
  )

  return {
    families,
    looked() {
      busy = performance.eventLoopUtilization()
      // Started by the first page, so that a service without monitoring has no timer for it.
      delay ??= monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      delay.reset()
      delay.enable()
    },
    close: () => void delay?.disable(),
  }
}

/**
 * The descriptor that reads the list is one of them. Asynchronously: with ten thousand it takes 10 ms. It ends in a
 * turn of its own, so that nothing is left open when the page is complete.
 */
function countOpenFiles(): Promise<number | undefined> {
  return new Promise((resolve) =>
    readdir('/proc/self/fd', (error, names) => setImmediate(resolve, error ? undefined : names.length - 1)),
  )
}

/** The system generates it on each read, so there is nothing to wait for. */
function findOpenFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft ? Number(soft) : undefined
  } catch {
    return undefined
  }
}
