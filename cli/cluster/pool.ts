import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import type { Reading } from '../../lib/metrics/page.ts'
import { drainSeconds } from '../drain.ts'
import { toFailure } from '../errors.ts'
import { nextDelay } from './backoff.ts'
import { createCollector } from './collect.ts'
import { sendToWorker, type ToPrimary, type ToWorker, WORKER_VARIABLE } from './messages.ts'
import { createStart, deferred, type Listening, type Starting } from './start.ts'

/**
 * How much longer than a drain should take a worker may run: without a response of the database it takes 10 to 15 seconds
 * more. A supervisor kills all processes after 20 (`stopTimeoutOf`), which no line of the log would explain.
 */
const TIMEOUT_SECONDS = 15

/** The worker processes of a service. */
export interface WorkerPool {
  /** Resolves once all workers listen. @throws the first error, if none of them can start */
  start(): Promise<Listening>
  /** Has all workers drain and end, and resolves when they have. One that hangs is killed. */
  stop(): Promise<void>
  /** Has all workers use another configuration. Without any, those that start next do, as soon as they listen. */
  reload(config: Config): void
  /** Sends a signal to all workers. */
  signal(name: NodeJS.Signals): void
}

/** A place for one worker, which is filled again when its worker dies. */
interface Slot extends Starting {
  worker?: Worker
  started_at: number
  /** The wait before its worker was started. */
  delay: number
  /** Starts the next worker. */
  timer?: NodeJS.Timeout
  /** With which it was started. */
  config?: Config
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
export function createWorkerPool({ workers, config, log, onReload }: PoolDeps): WorkerPool {
  const slots = Array.from({ length: workers }, (): Slot => ({ started_at: 0, delay: 0, isReady: false }))
  const collector = createCollector({ ask: (round) => askReady(slots, round) })
  const up = createStart(slots)
  const allEnded = deferred<void>()
  let isStopping = false
  /** The last configuration to reload, until a worker has taken or refused it. */
  let offered: Config | undefined

  function fill(slot: Slot): void {
    if (isStopping) return
    Object.assign(slot, { started_at: performance.now(), isReady: false })
    const worker = startWorker({ log, receive: receive.bind(undefined, slot), ended: ended.bind(undefined, slot) })
    if (worker) slot.worker = worker
  }

  function receive(slot: Slot, worker: Worker, message: ToPrimary): void {
    switch (message.kind) {
      case 'hello':
        // What is sent to a worker before its hello is lost.
        if (isStopping) sendToWorker(worker, { kind: 'stop' })
        else begin(slot, worker, config())
        break
      case 'failed':
        slot.failure = message.failure
        break
      case 'ready':
        up.ready(slot, message)
        catchUp(slot, worker, offered ?? config())
        break
      case 'reloaded':
        offered = undefined
        onReload(message.config)
        break
      case 'refused':
        offered = undefined
        break
      case 'report':
        collector.report(worker.id, message.readings, message.round)
        break
      case 'collect':
        void sendTogether(worker, message.request, collector.collect())
        break
    }
  }

  function ended(slot: Slot, { error, ...how }: End): void {
    const { worker } = slot
    delete slot.worker
    if (error) slot.failure = toFailure(error)
    if (worker) collector.ended(worker.id)
    if (isStopping) {
      if (runningOf(slots).length === 0) allEnded.resolve()
      return
    }
    isStopping = up.hasFailed(slot, how)
    if (isStopping) giveUp(slots)
    else replaceLater(slot, { worker: worker?.id, ...how }, { log, fill })
  }

  return {
    start() {
      for (const slot of slots) fill(slot)
      return up.promise
    },
    stop() {
      isStopping = true
      sendToAll(slots, { kind: 'stop' })
      if (runningOf(slots).length === 0) allEnded.resolve()
      setTimeout(killHanging, 1000 * (drainSeconds(config()) + TIMEOUT_SECONDS), slots, log).unref()
      return allEnded.promise
    },
    reload(next) {
      offered = next
      sendToAll(slots, { kind: 'reload', config: next })
    },
    signal: (name) => signalAll(slots, name),
  }
}

/** How a worker has ended; with an error, the system could not start it. */
interface End {
  code?: number
  signal?: string
  error?: unknown
}

/** @param ended for the log */
function replaceLater(slot: Slot, ended: object, { log, fill }: { log: Log; fill: (slot: Slot) => void }): void {
  slot.delay = nextDelay(slot.delay, performance.now() - slot.started_at)
  const reason = slot.failure && { reason: slot.failure.message }
  log.warn('A worker ended and will be replaced.', { ...ended, ...reason, ms: slot.delay })
  slot.timer = setTimeout(fill, slot.delay, slot)
}

/** Starts a worker. One that the system cannot start has no process that exits: Node reports it in two ways. */
function startWorker(on: {
  log: Log
  receive: (worker: Worker, message: ToPrimary) => void
  ended: (how: End) => void
}): Worker | undefined {
  try {
    const worker = cluster.fork({ [WORKER_VARIABLE]: '1' })
    worker.on('message', (message: ToPrimary) => on.receive(worker, message))
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) on.ended({ error })
      else on.log.warn('A worker cannot be reached.', { worker: worker.id, error })
    })
    worker.once('exit', (code, signal) => on.ended(signal ? { signal } : { code }))
    return worker
  } catch (error) {
    on.ended({ error })
    return undefined
  }
}

function runningOf(slots: Slot[]): Worker[] {
  return slots.flatMap(({ worker }) => worker ?? [])
}

function sendToAll(slots: Slot[], message: ToWorker): void {
  for (const worker of runningOf(slots)) sendToWorker(worker, message)
}

function signalAll(slots: Slot[], name: NodeJS.Signals): void {
  for (const worker of runningOf(slots)) worker.process.kill(name)
}

/** Kills all workers, and cancels the restarts that still wait. */
function giveUp(slots: Slot[]): void {
  for (const { timer } of slots) clearTimeout(timer)
  signalAll(slots, 'SIGKILL')
}

function killHanging(slots: Slot[], log: Log): void {
  for (const { id } of runningOf(slots)) log.warn('A worker has not drained in time, and is killed.', { worker: id })
  signalAll(slots, 'SIGKILL')
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
