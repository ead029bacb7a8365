import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Shows the progress of a long command on a terminal: each line replaces the previous one, an empty one clears it. */
export function showProgress(subject: string, count?: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${subject}${count === undefined ? '' : ` ${count}`}\r`)
}

/** Runs in its own thread, because SQLite copies on the main thread. */
const WATCH = `
const { statSync, writeSync } = require('node:fs')
const { workerData: { subject, file, bytes }, parentPort } = require('node:worker_threads')
const inMib = (size) => Math.round(size / 1048576)
function show() {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  writeSync(2, '\\r\\x1b[K' + subject + ' ' + inMib(size) + ' of about ' + inMib(bytes) + ' MiB\\r')
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
