import { type CallMove, moveCalls } from '../../chat/answers/calls.ts'
import { endAnswer, INTERRUPTED } from '../../chat/answers/ending.ts'
import { stateOfRun } from '../../chat/answers/rules-calls.ts'
import type { LapsedAnswer } from '../../chat/answers/store.ts'
import { type CallRow, listCalls, listStates } from '../../chat/answers/store-calls.ts'
import { countAttempt, findHeld, findRun, pauseAnswer, type RunRow, takeAnswer } from '../../chat/answers/store-runs.ts'
import { lockAsSystem } from '../../chat/memberships/access.ts'
import type { LockOptions } from '../../chat/memberships/store-locks.ts'
import { notifyAsker } from '../../chat/notifications/answered.ts'
import type { Context } from '../../context.ts'
import { partsOfRows } from '../../core/stored-parts.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { listRows } from '../../storage/answer-parts.ts'
import type { Micros } from '../../storage/sql.ts'

/** How often a call is started, and the model asked for one step, whatever dies meanwhile. */
const MAX_ATTEMPTS = 3

/** Where an answer is that this process has taken. */
export interface TakenRun {
  run: RunRow
  calls: CallRow[]
  /** Whether all calls have ended, so that the model goes on. */
  isOver: boolean
  /** The number of its rows. */
  stored: number
}

export interface TakeOver {
  writer: string
  lease: Micros
  /** How many answers all processes hold at most. */
  max: number
  /** Whether a call that has started may start again. */
  isIdempotent(call: CallRow): boolean
  /** Whether the user who asked has no open stream, and is notified of an interrupted answer. */
  isAway: boolean
  /** What to do if another transaction has locked the conversation. */
  ifLocked: LockOptions
}

/**
 * Takes an answer with calls of tools that no process writes any more: its process has died, or participants have decided.
 * What has started and may not start again is lost; an answer whose model was writing is interrupted.
 *
 * @returns where it is; `interrupted`; `full` without room; `undefined` if it is left to another process, or waits for participants
 */
export async function takeOver(
  ctx: Pick<Context, 'config' | 'now' | 'write'>,
  answer: LapsedAnswer & { root_id: string },
  taking: TakeOver,
): Promise<TakenRun | 'interrupted' | 'full' | undefined> {
  const { message_id } = answer
  return ctx.write(async (tx) => {
    const at = await lockAsSystem(ctx, tx, answer.conversation_id, taking.ifLocked)
    if (at === undefined) return undefined
    const isTaken = await takeAnswer(tx, message_id, taking)
    if (isTaken !== 'taken') return isTaken
    const run = (await findRun(tx, message_id))!
    const interrupt = async () => {
      if (!(await endAnswer(tx, answer, INTERRUPTED, { only: { writer: taking.writer } }))) return undefined
      if (taking.isAway) await notifyAsker(ctx, tx, answer, at)
      return 'interrupted' as const
    }
    if ((await lastStep(tx, message_id)) > run.step) return interrupt()
    const calls = await listCalls(tx, message_id)
    const states = (await listStates(tx, message_id))!
    const lost = calls.filter(
      (call) => call.state === 'running' && !(taking.isIdempotent(call) && call.attempts < MAX_ATTEMPTS),
    )
    const moves = lost.map((call): CallMove => ({ call, act: 'lose' }))
    await moveCalls(tx, answer, states, moves, at)
    const state = stateOfRun([...states.values()])
    if (state === 'waiting') {
      await pauseAnswer(tx, message_id, taking.writer, run.ran_ms)
      return undefined
    }
    const isOver = state === 'over'
    if (isOver && (await countAttempt(tx, message_id, run.ran_ms)) > MAX_ATTEMPTS) return interrupt()
    for (const call of calls) call.state = states.get(call.id)!
    return { run, calls, isOver, stored: (await findHeld(tx, message_id))! }
  })
}

/** The last step that has a row. */
async function lastStep(tx: Tx, messageId: string): Promise<number> {
  const steps = partsOfRows(await listRows(tx, messageId)).map((part) => (part.type === 'step' ? part.step : 1))
  return Math.max(1, ...steps)
}
