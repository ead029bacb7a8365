import type { Context } from '../../context.ts'
import { deleteMentionsOf, listMentioning } from '../mentions/store.ts'
import { removeTraces } from './remove-traces.ts'

/** Removes the mentions of a user who is being erased, as {@link removeTraces}. */
export function eraseMentions(ctx: Context, userId: string): Promise<void> {
  return removeTraces(
    ctx,
    (db, limit) => listMentioning(db, userId, limit),
    async (tx, ids) =>
      (await deleteMentionsOf(tx, userId, ids)).map((message_id) => ({ type: 'message.edited', message_id })),
  )
}
