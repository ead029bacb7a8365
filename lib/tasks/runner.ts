import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../context.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { SECOND } from '../core/units.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database, TransactionOptions } from '../storage/database.ts'
import { FREEING_KINDS, PROMPT_KINDS, REMOTE_KINDS, TASK_KINDS, type TaskDetail, type TaskKind } from './schema.ts'
import { deleteTask, hasDueTask, hasTask, type Queue, releaseTask, renewTask, type TaskRow, takeTask } from './store.ts'

/** The lease of a task; another process takes a task with an expired lease. */
const LEASE = 10 * SECOND
const RENEW_MS = 3_000

/** How often a process looks for new and abandoned tasks: with the lease well under fifteen seconds. */
const POLL_MS = 3_000

/** How long a task runs before other due tasks get a turn: a small task must not wait for a large one. */
const SLICE_MS = 1_000

/** SQLite has one writer; on PostgreSQL a VACUUM of minutes must not hold up the rest. */
const WORKERS = { sqlite: 1, postgresql: 3 }

const isSlow = (kind: TaskKind) => !REMOTE_KINDS.includes(kind) && !PROMPT_KINDS.includes(kind)

/** Tasks of one process that wait for another machine, or for the host, at the same time. */
const REMOTE_WORKERS = 4

/** How often `idle` looks. */
const IDLE_MS = 20

/** The maximum pause before a failed task is retried; the pause doubles each time. */
const MAX_BACKOFF_SECONDS = 300

/** A task taken by a process. */
export interface TaskRun {
  key: string
  detail: TaskDetail
  /** Aborted when the service stops, or another process has taken the task. */
  signal: AbortSignal
  /** Whether the turn has ended: return the detail, and the task continues with it later. */
  isOver(): boolean
}

/** The result of a turn: done, or to continue with that detail, perhaps as another kind. */
export type TaskOutcome = { done: true } | { done: false; detail: TaskDetail; delay_seconds?: number; kind?: TaskKind }

/** Runs the work of one kind in small transactions, so that it may be interrupted at any point and repeated. */
export type TaskHandler = (run: TaskRun) => Promise<TaskOutcome>

/** What runs the tasks of each kind. */
export type TaskHandlers = Record<TaskKind, TaskHandler>

/** The tasks of this process. */
export interface TaskWorker {
  /** Sets what runs the tasks: the parts of the service, which may add tasks themselves. */
  handle(handlers: TaskHandlers): void
  /** Starts to take tasks. */
  start(): void
  /** Looks for a due task now. */
  wake(): void
  /** Looks for a due task after a commit with new ones. */
  committed(commit: { has_tasks: boolean }): void
  /** Runs due tasks of a kind in a process that was not started, such as a command; others look for them. */
  runDue(kind: TaskKind): Promise<void>
  /** Runs all tasks, including those due within an hour, and returns when none is left. For tests. */
  settle(): Promise<void>
  /** Returns when no task is due or in progress; at once if the worker was not started. */
  idle(): Promise<void>
  /** Takes no more tasks, and waits until the running ones are released. */
  stop(): Promise<void>
}

interface WorkerDeps {
  db: Database
  metrics: Metrics
  log: Log
}

/** Takes tasks and runs them. Nothing happens before `start()`. */
export function createTaskWorker(deps: WorkerDeps): TaskWorker {
  const { db } = deps
  const writer = newId()
  const pools = [
    { kinds: TASK_KINDS.filter(isSlow), size: WORKERS[db.dialect] },
    { kinds: PROMPT_KINDS, size: 1 },
    { kinds: REMOTE_KINDS, size: REMOTE_WORKERS },
  ].map((pool) => ({ ...pool, workers: new Set<Promise<void>>() }))
  let timer: NodeJS.Timeout | undefined
  let stopping = false
  const stop = new AbortController()
  let handlers: TaskHandlers | undefined

  /** One task after another until none is due. */
  async function work(kinds: readonly TaskKind[], ahead: number): Promise<void> {
    while (!stopping && (await hasDueTask(db, { kinds, ahead }))) {
      const task = await take(db, { kinds, ahead }, writer)
      if (!task) return
      await execute(deps, task, { handler: handlers![task.kind], writer, stopping: stop.signal })
    }
  }

  function spawn({ kinds, workers }: (typeof pools)[number], ahead: number): Promise<void> {
    const worker = work(kinds, ahead)
      .catch(() => {}) // The storage fails, which its other users report; the next poll retries.
      .finally(() => workers.delete(worker))
    workers.add(worker)
    return worker
  }

  const running = () => pools.flatMap(({ workers }) => [...workers])

  function wake(): void {
    if (timer && !stopping) for (const pool of pools) if (pool.workers.size < pool.size) void spawn(pool, 0)
  }

  return {
    handle(all) {
      handlers = all
    },
    start() {
      timer ??= setInterval(wake, POLL_MS).unref()
      wake()
    },
    wake,
    committed: ({ has_tasks }) => void (has_tasks && wake()),
    async runDue(kind) {
      if (!timer) await spawn({ ...pools[0]!, kinds: [kind] }, 0)
    },
    async settle() {
      const ahead = 3_600 * SECOND
      while (await hasTask(db, ahead)) {
        await Promise.all(pools.map((pool) => spawn(pool, ahead)))
        await sleep(10)
      }
    },
    idle: () => whenIdle(db, { wake, running, isOpen: () => timer !== undefined && !stopping }),
    async stop() {
      stopping = true
      clearInterval(timer)
      stop.abort()
      await Promise.all(running())
    },
  }
}

interface Workers {
  wake: () => void
  running: () => Promise<void>[]
  isOpen: () => boolean
}

/** Returns when no task is due or in progress. Tasks of another process are checked again. */
async function whenIdle(db: Database, { wake, running, isOpen }: Workers): Promise<void> {
  while (isOpen() && (running().length > 0 || (await hasTask(db, 0)))) {
    wake()
    await Promise.race([Promise.all(running()), sleep(IDLE_MS)])
    if (running().length === 0) await sleep(1)
  }
}

/** What may be written about a task on a full disk. */
const writingOf = (kind: TaskKind): TransactionOptions => (FREEING_KINDS.includes(kind) ? { full_disk: 'half' } : {})

/** Takes a due task: where the disk is too full for that, one that frees space. */
async function take(db: Database, queue: Queue, writer: string): Promise<TaskRow | undefined> {
  const takeOf = (kinds: readonly TaskKind[], options?: TransactionOptions) =>
    db.write((tx) => takeTask(tx, { ...queue, kinds, writer, lease: LEASE }), options)
  try {
    return await takeOf(queue.kinds)
  } catch (error) {
    const kinds = queue.kinds.filter((kind) => FREEING_KINDS.includes(kind))
    const isFull = error instanceof ChatError && error.code === 'storage_full'
    // Nothing of the reserve is given up for none.
    if (!isFull || kinds.length === 0 || !(await hasDueTask(db, { ...queue, kinds }))) throw error
    return takeOf(kinds, { full_disk: 'half' })
  }
}

/** Runs a task for a turn, renewing its lease, and then deletes it or releases it for later. */
async function execute(
  deps: WorkerDeps,
  task: TaskRow,
  { handler, writer, stopping }: { handler: TaskHandler; writer: string; stopping: AbortSignal },
): Promise<void> {
  const { db } = deps
  const writing = writingOf(task.kind)
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  const renewing = setInterval(() => {
    // While the storage fails the lease expires by itself.
    db.write((tx) => renewTask(tx, task.id, writer, LEASE), writing).then(
      (isHeld) => isHeld || lost.abort(),
      () => {},
    )
  }, RENEW_MS).unref()
  const end = performance.now() + SLICE_MS
  const isOver = () => signal.aborted || performance.now() >= end
  const detail = task.detail === null ? {} : (JSON.parse(task.detail) as TaskDetail)
  try {
    const outcome = await handler({ key: task.key, detail, signal, isOver })
    if (outcome.done) return await db.write((tx) => deleteTask(tx, task.id, writer), writing)
    const rest = { id: task.id, kind: outcome.kind ?? task.kind, attempts: 0, detail: JSON.stringify(outcome.detail) }
    await db.write((tx) => releaseTask(tx, rest, { writer, delay: (outcome.delay_seconds ?? 0) * SECOND }), writing)
  } catch (error) {
    await fail(deps, task, writer, error)
  } finally {
    clearInterval(renewing)
  }
}

async function fail({ db, metrics, log }: WorkerDeps, task: TaskRow, writer: string, error: unknown): Promise<void> {
  const attempts = task.attempts + 1
  metrics.taskFailed(task.kind)
  log.warn('A task failed and will be retried', { task: task.kind, subject_id: task.key, cause: causeText(error) })
  const delay = Math.min(2 ** attempts, MAX_BACKOFF_SECONDS) * SECOND
  // If the storage fails, the lease expires by itself.
  await db
    .write((tx) => releaseTask(tx, { ...task, attempts }, { writer, delay }), writingOf(task.kind))
    .catch(() => {})
}
