import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import type { Pending } from '../live/transaction/pending.ts'

/** Sends what the host has committed through `withTransaction`, and what other processes have committed. */
export async function flush({ streams: { poller, hub }, tasks }: Context, pending: Pending): Promise<void> {
  // One in progress may have asked before the commit; its failure is logged.
  await pending.settle.current()?.catch(() => {})
  await pending.settle()
  tasks.wake()
  // A poll in progress may have looked before the commit.
  await poller.poll.current()
  await poller.poll()
  await hub.delivered()
}

/** Resolves when nothing is in progress. @throws ChatError `unavailable` when the time is up */
export async function idle(ctx: Context, pending: Pending, timeout_ms: number | undefined): Promise<void> {
  if (timeout_ms === undefined) return whenQuiet(ctx, pending, () => false)
  let isLate = false
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isLate = true
      const message = `The service still works after ${timeout_ms} ms: ${ctx.answers.size()} answers are in progress.`
      reject(new ChatError('unavailable', { message }))
    }, timeout_ms)
  })
  try {
    await Promise.race([whenQuiet(ctx, pending, () => isLate), late])
  } finally {
    clearTimeout(timer)
  }
}

/** An answer or a task may begin another one: it ends after a round in which nothing was in progress. */
async function whenQuiet(ctx: Context, pending: Pending, isLate: () => boolean): Promise<void> {
  const { answers, tasks } = ctx
  const { hub } = ctx.streams
  do {
    await answers.idle()
    await tasks.idle()
    await hub.delivered()
    await flush(ctx, pending)
    await ctx.host.afterEvents.idle()
    await ctx.host.notifier.idle()
    await ctx.search.move()
  } while (!isLate() && answers.size() > 0)
}
