import type { Context } from '../../context.ts'
import { removeTraces } from '../messages/remove-traces.ts'
import { forgetPinner, listPinnedBy } from '../messages/store-pins.ts'

/** Removes a user who is being erased from pins, as {@link removeTraces}. The pins stay. */
export function erasePins(ctx: Context, userId: string): Promise<void> {
  return removeTraces(
    ctx,
    (db, limit) => listPinnedBy(db, userId, limit),
    async (tx, ids) =>
      (await forgetPinner(tx, userId, ids)).map(({ message_id, root_id, pinned_at }) => {
        return { type: 'pin.changed', message_id, detail: { action: 'added', root_id, at: pinned_at } }
      }),
  )
}
