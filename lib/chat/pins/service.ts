import { ChatError } from '../../core/errors.ts'
import { countWithin, fit } from '../../core/pages.ts'
import { fromInstant, toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { lockWithRight, refuseClosed, requireReader } from '../memberships/access.ts'
import { withOwn, withTexts } from '../messages/completing.ts'
import { publishPin } from '../messages/pin-changes.ts'
import { listPinned, toMessageFor } from '../messages/store.ts'
import { countPins, findPin, type PinState, setPin } from '../messages/store-pins.ts'
import { type Pin, type PinPage, PinsQuery } from './schema.ts'

/**
 * Pins a message in its conversation and publishes an event. If it is pinned, nothing changes.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `message_deleted`; `conflict` for one pin
 *   more than `limits.pins`
 */
export const add = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found', 'forbidden', 'message_deleted', 'conflict'],
  run: async (ctx, actor, messageId): Promise<void> => {
    await ctx.write(async (tx) => {
      const place = await lockWithRight(ctx, tx, actor, { message_id: messageId }, 'pin')
      const state = assertLive(await findPin(tx, messageId))
      if (state.pinned_at !== null) return
      await refuseClosed(tx, place, actor)
      const { at } = place
      if ((await countPins(tx, state.conversation_id)) >= ctx.config.limits.pins) throw new ChatError('conflict', FULL)
      await setPin(tx, messageId, { at, by: actor.user_id })
      publishPin(tx, { id: messageId, ...state }, { user_id: actor.user_id, action: 'added', at })
    })
  },
})

const FULL = { message: 'The conversation has as many pinned messages as it may have (limits.pins).' }

/**
 * Removes the pin of a message and publishes an event. Without one, nothing changes.
 *
 * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `message_deleted`
 */
export const remove = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found', 'forbidden', 'message_deleted', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, messageId): Promise<void> => {
    await ctx.write(async (tx) => {
      const { at } = await lockWithRight(ctx, tx, actor, { message_id: messageId }, 'pin')
      const state = assertLive(await findPin(tx, messageId))
      if (state.pinned_at === null) return
      await setPin(tx, messageId)
      publishPin(tx, { id: messageId, ...state }, { user_id: actor.user_id, action: 'removed', at })
    })
  },
})

/**
 * The pinned messages of a conversation, latest first, without deleted ones. A page ends early if messages are long.
 *
 * @throws ChatError `not_found`
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  input: PinsQuery,
  errors: ['not_found'],
  run: (ctx, actor, conversationId, { after, limit }): Promise<PinPage> => {
    return ctx.db.snapshot(async (db) => {
      const { role } = await requireReader(ctx, db, actor, conversationId)
      const before = after === undefined ? Number.MAX_SAFE_INTEGER : fromInstant(after)
      const rows = await listPinned(db, conversationId, before, limit + 1)
      const read = rows.slice(0, Math.min(limit, countWithin(rows.map((row) => row.size))))
      const live = (await withTexts(db, read)).filter((row) => !row.deleted_at)
      const messages = live.map((row) => toMessageFor(ctx.access, { actor, role }, row))
      const all = (await withOwn(db, actor.user_id, messages)).map((message): Pin => ({ message, ...message.pinned! }))
      const pins = fit(all)
      const hasMore = pins.length < all.length || read.length < rows.length
      const last = pins.length < all.length ? pins.at(-1)!.at : toInstant(read.at(-1)?.pinned_at ?? 0)
      return { pins, ...(hasMore && { next_after: last }) }
    })
  },
})

/** @throws ChatError `message_deleted` */
function assertLive(state: PinState | undefined): PinState {
  if (!state || state.is_deleted) throw new ChatError('message_deleted')
  return state
}
