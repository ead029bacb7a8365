import type { CancelledAnswer } from '../../chat/answers/schema.ts'
import { cancel } from '../../chat/answers/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { unlessUnknown } from '../../core/errors.ts'
import { findRunning } from './store-place.ts'

/**
 * Stops the answer that runs or waits in a chat: the one with that id, else the newest one of the actor, else the newest one.
 *
 * @returns `undefined` without one, and for a chat that the actor does not know
 * @throws ChatError `forbidden` as `answers.cancel`
 */
export async function stopInChat(
  ctx: Context,
  actor: Actor,
  { name, message_id }: { name: string; message_id: string | undefined },
): Promise<CancelledAnswer | undefined> {
  const { user_id } = actor
  const running = await findRunning(ctx.db, { user_id, name }, { waiting: true, message_id })
  return running && cancel.run(ctx, actor, running.message_id).catch(unlessUnknown)
}
