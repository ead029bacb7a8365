import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Shows the progress of a long command on a terminal: each line replaces the previous one, an empty one clears it. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}\r`)
}

/** The progress of a command of many rows. */
export interface Meter {
  /** Adds rows of a table, and shows its progress. */
  add(table: string, rows: number): void
  /** Clears the line. */
  end(): void
}

/** How often the line changes. */
const INTERVAL_MS = 100

/** Shows on a terminal how far a command is. @param measure how far it is, and the unit */
export function createMeter(measure: (rows: number) => HowFar): Meter {
  const began = performance.now()
  const done = new Map<string, number>()
  let shownAt = -Infinity
  return {
    add(table, count) {
      done.set(table, count)
      const now = performance.now()
      if (now - shownAt < INTERVAL_MS) return
      shownAt = now
      const rows = [...done.values()].reduce((sum, value) => sum + value, 0)
      showProgress(describeProgress(table, measure(rows), { rows, seconds: (now - began) / 1000 }))
    },
    end: () => showProgress(''),
  }
}

/** How much of how much, such as rows or MiB; without a total if that is unknown. */
export interface HowFar {
  done: number
  total?: number | undefined
  unit: string
}

/** Such as `messages: 1200 of about 4800 rows (25 %), 9600 rows/s`. */
export function describeProgress(
  table: string,
  { done, total, unit }: HowFar,
  { rows, seconds }: { rows: number; seconds: number },
): string {
  const share = total ? ` of about ${total} ${unit} (${Math.min(100, Math.floor((100 * done) / total))} %)` : ` ${unit}`
  return `${table}: ${done}${share}, ${Math.round(rows / Math.max(seconds, 0.001))} rows/s`
}

/** Runs in its own thread, because SQLite copies on the main thread. */
const WATCH = `
const { statSync, writeSync } = require('node:fs')
const { workerData: { subject, file, bytes }, parentPort } = require('node:worker_threads')
const inMib = (size) => Math.round(size / 1048576)
const began = performance.now()
function show() {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const rate = inMib(size / Math.max(0.25, (performance.now() - began) / 1000))
  writeSync(2, '\\r\\x1b[K' + subject + ' ' + inMib(size) + ' of about ' + inMib(bytes) + ' MiB, ' + rate + ' MiB/s\\r')
}
show()
setInterval(show, 250)
parentPort.postMessage('begun')
`

/**
 * Shows the growth of a file on a terminal while `work` blocks this thread.
 *
 * @param bytes its approximate final size
 */
export async function showGrowth<T>(
  subject: string,
  { file, bytes }: { file: string; bytes: number },
  work: () => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work()
  const watch = new Worker(WATCH, { eval: true, workerData: { subject, file, bytes } })
  try {
    await once(watch, 'message')
    return await work()
  } finally {
    await watch.terminate()
    showProgress('')
  }
}
