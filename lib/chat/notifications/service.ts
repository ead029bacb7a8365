import type { Context } from '../../context.ts'
import { assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fromCursor, toCursor } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { type NotificationPage, NotificationsQuery, ReadNotifications } from './schema.ts'
import { countUnreadNotifications, findPlace, listNotifications } from './store.ts'
import { toNotification } from './store-making.ts'
import { readOfService } from './store-of-service.ts'
import { listMeant, lockConversations, type Meant, readByIds } from './store-reading.ts'

const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/**
 * A page of the actor's inbox, newest first: what concerns the actor in conversations in which the actor participates.
 *
 * @throws ChatError `invalid_cursor`
 */
export const list = useCase({
  takes: ['actor'],
  input: NotificationsQuery,
  errors: ['invalid_cursor'],
  run: (ctx, actor, input): Promise<NotificationPage> => {
    assertPerson(actor)
    const after = input.after === undefined ? LATEST : fromCursor(input.after)
    if (!after) throw new ChatError('invalid_cursor')
    return ctx.db.snapshot(async (db) => {
      const [rows, counts] = await Promise.all([
        listNotifications(db, actor.user_id, input, after, input.limit + 1),
        countUnreadNotifications(db, [actor.user_id]),
      ])
      const page = rows.slice(0, input.limit)
      return {
        notifications: page.map(toNotification),
        unread: counts.get(actor.user_id) ?? 0,
        ...(rows.length > page.length && { next_after: toCursor(page.at(-1)!) }),
      }
    })
  },
})

/**
 * Marks notifications of the actor as read: these, or all up to one of them. Unknown ids are passed over. It moves no
 * read marker of a thread. The actor's own streams get an event.
 */
export const markRead = useCase({
  takes: ['actor'],
  input: ReadNotifications,
  run: async (ctx, actor, input): Promise<void> => {
    assertPerson(actor)
    const { user_id } = actor
    if ('ids' in input) return readAll(ctx, user_id, input)
    const upTo = await findPlace(ctx.db, user_id, input.up_to)
    if (upTo) await readAll(ctx, user_id, { upTo })
  },
})

/** Marks them as read, some in each transaction. */
async function readAll(ctx: Context, userId: string, meant: Meant): Promise<void> {
  for (let rest = meant; ; ) {
    const next = await ctx.write(async (tx) => {
      const { found, system, last } = await listMeant(tx, userId, rest)
      if (found.length + system.length === 0) return last
      const locked = await lockConversations(tx, userId, new Set(found.map((row) => row.conversation_id)))
      const due = found.filter(({ conversation_id }) => locked.has(conversation_id))
      const ids = [
        ...(await readByIds(tx, userId, due, ctx.now())),
        ...(await readOfService(tx, userId, system, ctx.now())),
      ]
      const which = 'ids' in meant ? { ids } : { up_to: meant.upTo.id }
      if (ids.length > 0) tx.publishToInboxes([userId], { type: 'notification.read', payload: { ...which, unread: 0 } })
      return last
    })
    if (!next) return
    rest = { upTo: next }
  }
}
