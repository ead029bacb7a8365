import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { inBatches, rowsAtOnce } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { listKeysWithTask } from '../../tasks/store.ts'
import { addUp, isOlder } from './rules.ts'
import { addSums, deleteSums, readFiles, readMessages, readUnused } from './store.ts'
import {
  deleteRound,
  findDone,
  findOutdated,
  insertRound,
  lockUnderWay,
  moveRound,
  type Round,
  type RoundStep,
} from './store-rounds.ts'

/** The age at which a reader gets new sums, and the age at which they are made anew without one. */
const READ_AGE = 3_600 * SECOND
const DAILY_AGE = 24 * READ_AGE

/** How long a reader waits for new sums, and how often it looks. */
const WAIT_MS = 5_000
const LOOK_MS = 50

/** Rows are only read: more of them than of those that are changed take as long as one batch may. */
const ROWS = 5

const KIND = 'usage.sum'

/**
 * Sums up what users and conversations store, each row once: how far it is changes with the sums, in one transaction. A
 * process that is killed, or that another one takes the task from, leaves off at the end of a batch.
 */
export async function sumUp(ctx: Context, { isOver }: TaskRun): Promise<TaskOutcome> {
  await ctx.write(async (tx) => {
    if (await lockUnderWay(tx)) return
    const done = await findDone(tx)
    if (areSumsOlder(done, ctx.now(), READ_AGE)) await insertRound(tx, done, ctx.now())
  })
  const isDone = await inBatches(isOver, (size) =>
    ctx.write(async (tx) => {
      const began = performance.now()
      const round = await lockUnderWay(tx)
      if (!round) return undefined
      await moveRound(tx, round.n, await takeStep(tx, round, rowsAtOnce(ctx.db, size)))
      return performance.now() - began
    }),
  )
  return isDone ? { done: true } : { done: false, detail: {} }
}

/** The tables in the order in which they are summed up, and what is behind each. */
const READ = {
  files: { read: readFiles, next: 'unused' },
  unused: { read: readUnused, next: 'messages' },
  messages: { read: readMessages, next: 'done' },
} as const

/** Takes some rows of a step into the sums. @returns how far the round is then */
async function takeStep(tx: Queries, { n, step, place }: Round, size: number): Promise<Pick<Round, 'step' | 'place'>> {
  if (!isReading(step)) return (await clear(tx, size)) ? { step: 'files', place: '' } : { step, place }
  const { pieces, last } = await READ[step].read(tx, place, ROWS * size)
  await addSums(tx, n, addUp(pieces))
  return last === undefined ? { step: READ[step].next, place: '' } : { step, place: last }
}

const isReading = (step: RoundStep): step is keyof typeof READ => step in READ

/** Deletes up to `size` sums that are outdated. @returns whether there are no more */
async function clear(tx: Queries, size: number): Promise<boolean> {
  const outdated = await findOutdated(tx)
  if (!outdated) return true
  if ((await deleteSums(tx, outdated.n, size)) < size) await deleteRound(tx, outdated.n)
  return false
}

/** Has sums made that are older than a day. A job calls it. */
export async function renewDaily(ctx: Context): Promise<void> {
  await order(ctx, DAILY_AGE)
}

/** Has sums made that are older than an hour, and waits up to five seconds for them; on a full disk none are made. */
export async function renewForReader(ctx: Context): Promise<void> {
  const end = performance.now() + WAIT_MS
  // Ordered again at each look: the task of the sums that are there may be finished, but not deleted.
  while ((await order(ctx, READ_AGE).catch(unlessFull)) && performance.now() < end && !ctx.streams.hub.isDraining()) {
    void ctx.tasks.runDue(KIND)
    await sleep(LOOK_MS)
  }
}

/** On a full disk the old sums show what fills it. */
function unlessFull(error: unknown): false {
  if (error instanceof ChatError && error.code === 'storage_full') return false
  throw error
}

/** Enqueues the task if the sums are older, and none is under way. @returns whether they are older */
async function order(ctx: Context, age: number): Promise<boolean> {
  if (!(await areOlder(ctx.db, ctx.now(), age))) return false
  if ((await listKeysWithTask(ctx.db, KIND, [''])).size > 0) return true
  await ctx.write(async (tx) => {
    const isUnderWay = (await listKeysWithTask(tx, KIND, [''])).size > 0
    if (!isUnderWay && (await areOlder(tx, ctx.now(), age))) tx.enqueue({ kind: KIND, key: '' })
  })
  return true
}

async function areOlder(db: Queries, now: number, age: number): Promise<boolean> {
  return areSumsOlder(await findDone(db), now, age)
}

const areSumsOlder = (done: Round | undefined, now: number, age: number) => !done || isOlder(done.as_of, now, age)
