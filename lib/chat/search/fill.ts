import type { Context } from '../../context.ts'
import { inBatches } from '../../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { noteOlder } from './store.ts'

/** Above any id. */
const TOP = 'g'

/** Brings all messages into the index, the newest first. It goes on where it was interrupted. */
export async function fill({ db, search }: Context, { detail, isOver }: TaskRun): Promise<TaskOutcome> {
  if (!search.isOn()) return { done: true }
  let before = String(detail.before ?? TOP)
  const isDone = await inBatches(isOver, async (size) => {
    const began = performance.now()
    const next = await db.write((tx) => noteOlder(tx, before, size))
    await search.move()
    before = next ?? before
    return next === undefined ? undefined : performance.now() - began
  })
  return isDone ? { done: true } : { done: false, detail: { before } }
}
