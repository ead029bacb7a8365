import type { Worker } from 'node:cluster'
import type { Config } from '../../lib/config/parse.ts'
import type { Reading } from '../../lib/metrics/page.ts'
import type { Failure } from '../errors.ts'

/** From the primary process to a worker. */
export type ToWorker =
  | { kind: 'start'; config: Config }
  /** Use this configuration from now on. */
  | { kind: 'reload'; config: Config }
  /** Drain and end. */
  | { kind: 'stop' }
  /** Send a report with this number. */
  | { kind: 'report'; round: number }
  /** The readings of all workers, for the request with this number. */
  | { kind: 'together'; request: number; readings: Reading[] }

/** From a worker to the primary process. */
export type ToPrimary =
  /** It waits for its configuration. */
  | { kind: 'hello' }
  /** It listens there. */
  | { kind: 'ready'; url: string; address: string }
  /** It has reloaded its configuration, which is this one now. */
  | { kind: 'reloaded'; config: Config }
  /** It cannot use the configuration that it was sent, and keeps its own. */
  | { kind: 'refused' }
  /** It cannot start, and ends. */
  | { kind: 'failed'; failure: Failure }
  /** It needs the readings of all workers. */
  | { kind: 'collect'; request: number }
  /** Its own readings; without a round they are its last ones. */
  | { kind: 'report'; round?: number; readings: Reading[] }

/** Set in a worker of ours, since others also run programs as workers of node:cluster. */
export const WORKER_VARIABLE = 'CHAT_WORKER'

/** The configuration of a worker: a real port, and the primary process has migrated. @param port the free one, for 0 */
export function asWorkerConfig(config: Config, port: number): Config {
  const server = { ...config.server, port: config.server.port || port }
  return { ...config, server, storage: { ...config.storage, migrate: false } }
}

/** Sends to the primary process. Resolves once that is done, or cannot be done any more. */
export function sendToPrimary(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, undefined, undefined, () => resolve())
    else resolve()
  })
}

/** Sends to a worker, unless it is ending. */
export function sendToWorker(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
