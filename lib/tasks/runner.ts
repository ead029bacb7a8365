import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { SECOND } from '../core/time.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import type { TaskDetail, TaskKind } from './schema.ts'
import { deleteTask, hasDueTask, releaseTask, renewTask, type TaskRow, takeTask } from './store.ts'

/** A task whose process is not heard of for so long is taken by another one. */
const LEASE = 10 * SECOND
const RENEW_MS = 3_000

/** How often a process looks for tasks that others have added, or left: with the lease well under fifteen seconds. */
const POLL_MS = 3_000

/** How long a task works before the others that are due have their turn: a small one waits for no large one. */
const SLICE_MS = 1_000

/** SQLite has one writer; on PostgreSQL a VACUUM of minutes must not hold up the rest. */
const WORKERS = { sqlite: 1, postgresql: 3 }

/** A task that fails waits twice as long each time, up to this. */
const LONGEST_BACKOFF_SECONDS = 300

/** A task in the hands of a process. */
export interface TaskRun {
  key: string
  detail: TaskDetail
  /** Aborted when the service stops, or another process has the task. */
  signal: AbortSignal
  /** Whether it is time to return: then the task goes on later, with the detail that was returned. */
  isOver(): boolean
}

/** What became of a task for now; `later` goes on with that detail. */
export type TaskOutcome = { done: true } | { done: false; detail: TaskDetail; delay_seconds?: number }

/** Does the work of one kind, in small transactions, so that it may be cut short at any point and done again. */
export type TaskHandler = (run: TaskRun) => Promise<TaskOutcome>

/** The tasks of this process. */
export interface TaskWorker {
  /** Begins to take tasks. */
  start(): void
  /** Looks for a task that is due, now. */
  wake(): void
  /** Does all there is to do, also what is due later, and returns when nothing is left. For tests. */
  settle(): Promise<void>
  /** Takes no more, and waits until those in hand are given back. */
  stop(): Promise<void>
}

interface WorkerDeps {
  db: Database
  metrics: Metrics
  log: Log
  handlers: Record<TaskKind, TaskHandler>
}

/** Takes tasks and has them done. Nothing happens before `start()`. */
export function createTaskWorker(deps: WorkerDeps): TaskWorker {
  const { db } = deps
  const writer = newId()
  const workers = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let stopping = false
  const stop = new AbortController()

  /** One task after another until none is due. */
  async function work(ahead: number): Promise<void> {
    while (!stopping && (await hasDueTask(db, ahead))) {
      const task = await db.write((tx) => takeTask(tx, { writer, lease: LEASE, ahead }))
      if (!task) return
      await execute(deps, task, { writer, stopping: stop.signal })
    }
  }

  function spawn(ahead: number): Promise<void> {
    const worker = work(ahead)
      .catch(() => {}) // The storage is in trouble, as its users say; the next poll tries again.
      .finally(() => workers.delete(worker))
    workers.add(worker)
    return worker
  }

  function wake(): void {
    if (timer && !stopping && workers.size < WORKERS[db.dialect]) void spawn(0)
  }

  return {
    start() {
      timer ??= setInterval(wake, POLL_MS).unref()
      wake()
    },
    wake,
    async settle() {
      const ahead = 3_600 * SECOND
      while (await db.get('SELECT 1 AS found FROM tasks LIMIT 1')) {
        await spawn(ahead)
        await sleep(10)
      }
    },
    async stop() {
      stopping = true
      clearInterval(timer)
      stop.abort()
      await Promise.all(workers)
    },
  }
}

/** Runs a task for a while, with its lease renewed, and then deletes it or releases it for later. */
async function execute(
  deps: WorkerDeps,
  task: TaskRow,
  { writer, stopping }: { writer: string; stopping: AbortSignal },
): Promise<void> {
  const { db, handlers } = deps
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  const renewing = setInterval(() => {
    // While the storage fails the lease runs out by itself.
    db.write((tx) => renewTask(tx, task.id, writer, LEASE)).then(
      (isHeld) => isHeld || lost.abort(),
      () => {},
    )
  }, RENEW_MS).unref()
  const end = performance.now() + SLICE_MS
  const isOver = () => signal.aborted || performance.now() >= end
  const detail = task.detail === null ? {} : (JSON.parse(task.detail) as TaskDetail)
  try {
    const outcome = await handlers[task.kind]({ key: task.key, detail, signal, isOver })
    if (outcome.done) return await db.write((tx) => deleteTask(tx, task.id, writer))
    const rest = { id: task.id, attempts: 0, detail: JSON.stringify(outcome.detail) }
    await db.write((tx) => releaseTask(tx, rest, { writer, delay: (outcome.delay_seconds ?? 0) * SECOND }))
  } catch (error) {
    await fail(deps, task, writer, error)
  } finally {
    clearInterval(renewing)
  }
}

async function fail({ db, metrics, log }: WorkerDeps, task: TaskRow, writer: string, error: unknown): Promise<void> {
  const attempts = task.attempts + 1
  metrics.taskFailed(task.kind)
  log.warn('A task failed and is tried again', { task: task.kind, subject_id: task.key, cause: causeText(error) })
  const delay = Math.min(2 ** attempts, LONGEST_BACKOFF_SECONDS) * SECOND
  // When the storage is in trouble, the lease runs out by itself.
  await db.write((tx) => releaseTask(tx, { ...task, attempts }, { writer, delay })).catch(() => {})
}
