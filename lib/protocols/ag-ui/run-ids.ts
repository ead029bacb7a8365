import { findRemembered, lockKeysOf, remember } from '../../chat/messages/store-idempotency.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { digest } from '../../core/ids.ts'
import { isId } from '../../core/schema.ts'

/** A run of a client, in the chat of a name. */
interface NamedRun {
  name: string
  run_id: string
}

/** The key of a question: it is known by its run. */
export const keyOfRun = ({ name, run_id }: NamedRun): string => `agui:${digest(JSON.stringify([name, run_id]))}`

/** The answer of a run, by the id of the run or by its own. `undefined` for a run that is not known, or not any more. */
export async function findAnswerOf(ctx: Context, { user_id }: Actor, run: NamedRun): Promise<string | undefined> {
  const asked = await findRemembered(ctx.db, { user_id, key: keyOfRun(run) }, ctx.now())
  return asked ?? (isId(run.run_id) ? run.run_id : undefined)
}

/** Lets an answer be known by a run for 24 hours, too: one that goes on with it, or was asked for with another key. */
export async function rememberRun(ctx: Context, { user_id }: Actor, run: NamedRun, messageId: string): Promise<void> {
  const key = keyOfRun(run)
  await ctx.write(async (tx) => {
    await lockKeysOf(tx, user_id)
    if ((await findRemembered(tx, { user_id, key }, ctx.now())) !== undefined) return
    await remember(tx, { user_id, key, request: ['run', messageId] }, messageId, ctx.now())
  })
}
