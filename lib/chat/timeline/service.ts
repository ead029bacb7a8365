import { useCase } from '../../core/use-case.ts'
import { findPosition } from '../../live/log/log.ts'
import { requireReader } from '../memberships/access.ts'
import { readPage } from './page.ts'
import { assertOnePlace } from './places.ts'
import { type RepliesPage, RepliesQuery, type TimelinePage, TimelineQuery } from './schema.ts'
import { findThread } from './store.ts'

/** PostgreSQL: in the order of an index, whatever the planner makes of a table without statistics. */
const BY_INDEX = { by_index: true } as const

/**
 * A page of the roots of a conversation, or of all its messages, by arrival.
 *
 * @throws ChatError `not_found`, also for a message that is not in the conversation; `invalid_cursor` for a place that is
 *   neither a message id nor a cursor of this list; `validation_failed` for two places
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  input: TimelineQuery,
  errors: ['not_found', 'invalid_cursor'],
  run: async (ctx, actor, conversation_id, { view, ...input }): Promise<TimelinePage> => {
    assertOnePlace(input)
    return ctx.db.snapshot(async (db) => {
      const caller = {
        access: ctx.access,
        actor,
        conversation_id,
        ...(await requireReader(ctx, db, actor, conversation_id)),
      }
      const page = await readPage(db, caller, { view, id: conversation_id, from: 0 }, input)
      return { conversation_id, ...page, stream_position: await findPosition(db, conversation_id) }
    }, BY_INDEX)
  },
})

/**
 * A page of the replies of a thread by arrival, of all depths, with the root.
 *
 * @throws ChatError `not_found`, also for a message that is not in the thread; `invalid_cursor`, `validation_failed` as
 *   {@link list}
 */
export const replies = useCase({
  takes: ['actor', 'root_id'],
  input: RepliesQuery,
  errors: ['not_found', 'invalid_cursor'],
  run: async (ctx, actor, root_id, input): Promise<RepliesPage> => {
    assertOnePlace(input)
    return ctx.db.snapshot(async (db) => {
      const thread = await findThread(db, root_id)
      const membership = await requireReader(ctx, db, actor, thread?.conversation_id)
      const { conversation_id, at } = thread!
      const caller = { access: ctx.access, actor, conversation_id, ...membership }
      const page = await readPage(db, caller, { view: 'thread', id: root_id, from: at }, input)
      return { conversation_id, ...page, root: page.root!, stream_position: await findPosition(db, conversation_id) }
    }, BY_INDEX)
  },
})
