import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { ChatError, ERRORS, type ErrorCode } from '../../lib/core/errors.ts'
import type { Reading } from '../../lib/metrics/page.ts'
import type { Failure } from '../errors.ts'
import { nextDelay } from './backoff.ts'
import { createCollector } from './collect.ts'
import { sendToWorker, type ToPrimary, WORKER_VARIABLE } from './messages.ts'

/** Where the workers listen, all in the same place. */
export type Listening = Pick<Extract<ToPrimary, { kind: 'ready' }>, 'url' | 'address'>

/** The worker processes of a service. */
export interface WorkerPool {
  /** Resolves once all workers listen. @throws the first error, if none of them can start */
  start(): Promise<Listening>
  /** Has all workers drain and end, and resolves when they have. */
  stop(): Promise<void>
  /** Has all workers use another configuration. */
  reload(config: Config): void
  /** Sends a signal to all workers. */
  signal(name: NodeJS.Signals): void
}

/** A place for one worker, which is filled again when its worker dies. */
interface Slot {
  worker?: Worker
  started_at: number
  /** The wait before its worker was started. */
  delay: number
  isReady: boolean
  /** With which it was started. */
  config?: Config
  failure?: Failure
}

interface PoolDeps {
  workers: number
  /** For each worker that starts; the port is a real one. */
  config: () => Config
  log: Log
  /** A worker has reloaded its configuration, which is this one now. */
  onReload: (config: Config) => void
}

/** Creates the pool; starts nothing. */
export function createWorkerPool(deps: PoolDeps): WorkerPool {
  const { config, log } = deps
  const slots = Array.from({ length: deps.workers }, (): Slot => ({ started_at: 0, delay: 0, isReady: false }))
  const collector = createCollector({ ask: (round) => askReady(slots, round) })
  const up = createStart(slots)
  const allEnded = deferred<void>()
  let isStopping = false

  function fill(slot: Slot): void {
    if (isStopping) return
    const worker = cluster.fork({ [WORKER_VARIABLE]: '1' })
    Object.assign(slot, { worker, started_at: performance.now(), isReady: false })
    worker.on('message', (message: ToPrimary) => receive(slot, worker, message))
    worker.on('error', (error) => log.warn('A worker cannot be reached.', { worker: worker.id, error }))
    worker.once('exit', (code, signal) => ended(slot, worker, signal ? { signal } : { code }))
  }

  function receive(slot: Slot, worker: Worker, message: ToPrimary): void {
    // What is sent to a worker before its hello is lost.
    if (message.kind === 'hello' && isStopping) sendToWorker(worker, { kind: 'stop' })
    else if (message.kind === 'hello') begin(slot, worker, config())
    if (message.kind === 'failed') slot.failure = message.failure
    if (message.kind === 'ready') up.ready(slot, message)
    if (message.kind === 'ready') catchUp(slot, worker, config())
    if (message.kind === 'reloaded') deps.onReload(message.config)
    if (message.kind === 'report') collector.report(worker.id, message.readings, message.round)
    if (message.kind === 'collect') void sendTogether(worker, message.request, collector.collect())
  }

  function ended(slot: Slot, worker: Worker, how: { code?: number; signal?: string }): void {
    delete slot.worker
    collector.ended(worker.id)
    if (isStopping && slots.every((each) => !each.worker)) allEnded.resolve()
    if (isStopping || up.hasFailed(slot, how)) return
    slot.delay = nextDelay(slot.delay, performance.now() - slot.started_at)
    const reason = slot.failure && { reason: slot.failure.message }
    log.warn('A worker ended and will be replaced.', { worker: worker.id, ...how, ...reason, ms: slot.delay })
    setTimeout(fill, slot.delay, slot)
  }

  return {
    start() {
      for (const slot of slots) fill(slot)
      return up.promise
    },
    stop() {
      isStopping = true
      const running = slots.flatMap(({ worker }) => worker ?? [])
      for (const worker of running) sendToWorker(worker, { kind: 'stop' })
      if (running.length === 0) allEnded.resolve()
      return allEnded.promise
    },
    reload(next) {
      for (const { worker } of slots) if (worker) sendToWorker(worker, { kind: 'reload', config: next })
    },
    signal(name) {
      for (const { worker } of slots) worker?.process.kill(name)
    },
  }
}

async function sendTogether(worker: Worker, request: number, readings: Promise<Reading[]>): Promise<void> {
  sendToWorker(worker, { kind: 'together', request, readings: await readings })
}

function begin(slot: Slot, worker: Worker, config: Config): void {
  slot.config = config
  sendToWorker(worker, { kind: 'start', config })
}

/** Has a worker reload what has changed while it started. */
function catchUp(slot: Slot, worker: Worker, config: Config): void {
  if (slot.config !== config) sendToWorker(worker, { kind: 'reload', config })
}

/** Has each worker that listens report its metrics. @returns their numbers */
function askReady(slots: Slot[], round: number): number[] {
  const ready = slots.flatMap(({ isReady, worker }) => (isReady && worker ? [worker] : []))
  for (const worker of ready) sendToWorker(worker, { kind: 'report', round })
  return ready.map(({ id }) => id)
}

/** The start of all workers: it is over once all listen, or fails once each has failed and none has ever listened. */
function createStart(slots: Slot[]) {
  const { promise, resolve, reject } = deferred<Listening>()
  let wasReady = false
  let firstFailure: Failure | undefined
  return {
    promise,
    ready(slot: Slot, { url, address }: Listening): void {
      slot.isReady = true
      delete slot.failure
      wasReady = true
      if (slots.every(({ isReady }) => isReady)) resolve({ url, address })
    },
    /** The worker of `slot` has ended. @returns whether the start has failed */
    hasFailed(slot: Slot, { code, signal }: { code?: number; signal?: string }): boolean {
      if (!slot.isReady) slot.failure ??= { code: 'failed', message: `A worker ended with ${signal ?? code}` }
      slot.isReady = false
      firstFailure ??= slot.failure
      const isOver = !wasReady && slots.every(({ failure }) => failure)
      if (isOver) reject(toError(firstFailure!))
      return isOver
    },
  }
}

/** The error of a worker, to be reported by this process. */
function toError({ code, message, errors }: Failure): Error {
  return code in ERRORS ? new ChatError(code as ErrorCode, { message, ...(errors && { errors }) }) : new Error(message)
}

/** A promise with its functions: Node 20 has no `Promise.withResolvers`. */
function deferred<T>() {
  let [resolve, reject]: [(value: T) => void, (error: Error) => void] = [() => {}, () => {}]
  const promise = new Promise<T>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}
