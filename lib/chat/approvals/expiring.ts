import type { Context } from '../../context.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { lockAsSystem } from '../memberships/access.ts'
import { expireCall } from './deciding.ts'
import { findApprovals } from './store.ts'

/** Ends the wait for a decision on a call: the task of the call is due. */
export async function expire(ctx: Context, { key: callId }: TaskRun): Promise<TaskOutcome> {
  const [known] = await findApprovals(ctx.db, [callId])
  if (known?.approval !== 'waiting') return { done: true }
  await ctx.write(async (tx) => {
    const at = await lockAsSystem(ctx, tx, known.conversation_id)
    const [row] = at === undefined ? [] : await findApprovals(tx, [callId])
    if (row) await expireCall(tx, row, at!)
  })
  ctx.answers.decided(known.message_id)
  return { done: true }
}
