import type { Context } from '../../context.ts'
import { newId } from '../../core/ids.ts'
import type { Database } from '../../storage/database.ts'
import { inBatches } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { insertTask } from '../../tasks/store.ts'
import { fillFormer, hasThreads, isFilled, noteFilled } from './store-former.ts'

/** After an upgrade, adds the task that notes former participants: earlier versions kept none. */
export async function ensureFormer(db: Database): Promise<void> {
  if (await isFilled(db)) return
  await db.write(async (tx) => {
    if (!(await noteFilled(tx))) return
    if (await hasThreads(tx)) await insertTask(tx, newId(), { kind: 'participants.fill', key: '' })
  })
}

/** Notes the users who have written or read in a conversation and have left it. It continues where it was interrupted. */
export async function fillParticipants({ db }: Context, { detail, isOver }: TaskRun): Promise<TaskOutcome> {
  let after = String(detail.after ?? '')
  const isDone = await inBatches(isOver, async (size) => {
    const began = performance.now()
    const next = await db.write((tx) => fillFormer(tx, after, size))
    after = next ?? after
    return next === undefined ? undefined : performance.now() - began
  })
  return isDone ? { done: true } : { done: false, detail: { after } }
}
