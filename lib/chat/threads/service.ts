import type { Context } from '../../context.ts'
import { type Actor, refuseSystem } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { countWithin, fit } from '../../core/pages.ts'
import { fromInstant, toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { findPosition } from '../../live/log/log.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { lockMembership, requireMember, requireReader } from '../memberships/access.ts'
import { withOwn, withTexts } from '../messages/completing.ts'
import { isPath } from '../messages/rules.ts'
import { sizeOfMessage } from '../messages/size.ts'
import { listTree, toMessageFor } from '../messages/store.ts'
import { publishRead } from '../notifications/publishing.ts'
import { reopen } from '../notifications/reopening.ts'
import { readScopes } from '../notifications/scopes.ts'
import { type NotifiedReader, readInThread } from '../notifications/store-reading.ts'
import { ofConversation } from '../unread/rules.ts'
import { countUnread, findUnread, listUnread, type ThreadReader } from '../unread/store.ts'
import { findNewest } from '../unread/store-floors.ts'
import { moveMark, moveMarkBack } from '../unread/store-marks.ts'
import {
  ReadMark,
  type ThreadPage,
  ThreadsQuery,
  type TreePage,
  TreeQuery,
  UnreadMark,
  UnreadQuery,
  type UnreadThreads,
} from './schema.ts'
import { findArrival, findThread, listThreads, toSummary } from './store.ts'

/**
 * A page of a conversation's threads, latest activity first.
 *
 * @throws ChatError `not_found`
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  input: ThreadsQuery,
  errors: ['not_found'],
  run: (ctx, actor, conversationId, input): Promise<ThreadPage> => {
    return ctx.db.snapshot(async (db) => {
      const place = await requireReader(ctx, db, actor, conversationId)
      const before = beforeOf(input)
      const rows = await listThreads(db, conversationId, before, input.limit + 1)
      const page = rows.slice(0, input.limit)
      const reader = { user_id: actor.user_id, conversation_id: conversationId }
      const ids = page.map((row) => row.root_id)
      // A system actor has read nothing, nor has a reader who does not participate.
      const counts = actor.system === undefined && !place.is_outside ? await countUnread(db, reader, ids) : undefined
      return {
        threads: page.map((row) => {
          const own = counts?.get(row.root_id)
          return { ...toSummary(row), ...(own && { ...own, following: own.following === 1 }) }
        }),
        ...(rows.length > input.limit && { next_after: toInstant(page.at(-1)!.last_activity_at) }),
        stream_position: await findPosition(db, conversationId),
      }
    })
  },
})

/**
 * A page of a thread, depth first: a message, then all messages below it, siblings in the order of arrival.
 *
 * @throws ChatError `not_found`; `invalid_cursor` for a cursor that is not a path
 */
export const tree = useCase({
  takes: ['actor', 'root_id'],
  input: TreeQuery,
  errors: ['not_found', 'invalid_cursor'],
  run: (ctx, actor, rootId, input): Promise<TreePage> => {
    return ctx.db.snapshot(async (db) => {
      const thread = await findThread(db, rootId)
      const conversationId = thread?.conversation_id
      const { role } = await requireReader(ctx, db, actor, conversationId)
      const cursor = input.cursor_path ?? ''
      if (cursor && !isPath(cursor)) throw new ChatError('invalid_cursor')
      const [rows, stream_position] = await Promise.all([
        listTree(db, rootId, cursor, input.limit + 1),
        findPosition(db, conversationId!),
      ])
      const read = rows.slice(0, Math.min(input.limit, countWithin(rows.map((row) => row.size))))
      const messages = fit(
        (await withTexts(db, read)).map((row) => toMessageFor(ctx.access, { actor, role }, row)),
        sizeOfMessage,
      )
      return {
        root_id: rootId,
        ...(thread?.title && { title: thread.title }),
        messages: await withOwn(db, actor.user_id, messages),
        ...(messages.length < rows.length && { next_cursor: messages.at(-1)!.path }),
        stream_position,
      }
    })
  },
})

const beforeOf = ({ after }: { after?: string | undefined }) =>
  after === undefined ? Number.MAX_SAFE_INTEGER : fromInstant(after)

/**
 * A page of a conversation's threads with unread messages, latest activity first: messages of others that arrived after
 * the reader's marker, and after the reader joined.
 *
 * @throws ChatError `not_found`; `forbidden` for a system actor, which reads nothing
 */
export const unread = useCase({
  takes: ['actor', 'conversation_id'],
  input: UnreadQuery,
  errors: ['not_found'],
  run: (ctx, actor, conversationId, input): Promise<UnreadThreads> => {
    refuseSystem(actor)
    return ctx.db.snapshot(async (db) => {
      const membership = await requireMember(ctx, db, actor, conversationId)
      const reader = { ...membership, user_id: actor.user_id, conversation_id: conversationId }
      const { total, unread, unread_replies } = await findUnread(db, reader)
      const rows = total > 0 ? await listUnread(db, reader, beforeOf(input), input.limit + 1) : []
      const page = rows.slice(0, input.limit)
      const hasMore = page.length < rows.length
      return {
        threads: page.map(({ root_id, unread }) => ({ root_id, unread })),
        total,
        unread,
        unread_replies,
        ...(hasMore && { next_after: toInstant(page.at(-1)!.last_activity_at) }),
        stream_position: await findPosition(db, conversationId),
      }
    })
  },
})

/**
 * Moves the actor's read marker in a thread forward to a message, or to the end; never back. The notifications of the
 * thread up to there are read, too. The actor's own streams get events.
 *
 * @throws ChatError `not_found`, also for a message that is not in the thread; `forbidden` as {@link unread}
 */
export const markRead = useCase({
  takes: ['actor', 'root_id'],
  input: ReadMark,
  errors: ['not_found'],
  run: async (ctx, actor, rootId, input): Promise<void> => {
    await mark(ctx, actor, rootId, input, readUpTo(ctx))
  },
})

/**
 * Moves the actor's read marker in a thread back, so that a message and those that arrived after it are unread. Those from
 * before the actor joined stay read. The actor's own streams get an event.
 *
 * @throws ChatError `not_found`, also for a message that is not in the thread; `forbidden` as {@link unread}
 */
export const markUnread = useCase({
  takes: ['actor', 'root_id'],
  input: UnreadMark,
  errors: ['not_found'],
  run: async (ctx, actor, rootId, input): Promise<void> => {
    await mark(ctx, actor, rootId, input, unreadFrom(ctx, input.message_id === rootId))
  },
})

/** Moves the marker of a reader. @returns false if it stays where it is */
type Move = (tx: Tx, reader: LockedReader, rootId: string, at: Micros) => Promise<boolean>

/** A reader whose conversation is locked; `clock` is its last instant. */
interface LockedReader extends ThreadReader, NotifiedReader {
  conversation_id: string
  clock: Micros
}

/** Moves a marker forward, and reads the notifications up to it. */
function readUpTo(ctx: Context): Move {
  return async (tx, reader, rootId, at) => {
    const now = ctx.now()
    publishRead(tx, reader.user_id, await readInThread(tx, reader, rootId, at, now))
    const isMoved = await moveMark(tx, reader, rootId, at)
    await readScopes(tx, reader, rootId, now)
    return isMoved
  }
}

/** Moves a marker back, at an instant of the conversation, and makes the notifications from there on unread. */
function unreadFrom(ctx: Context, is_root: boolean): Move {
  return async (tx, reader, rootId, at) => {
    const marked_at = Math.max(ctx.now(), reader.clock + 1)
    const isMoved = await reopen(tx, reader, { root_id: rootId, from: at }, () =>
      moveMarkBack(tx, reader, rootId, { at, is_root, marked_at }),
    )
    if (isMoved) tx.advanceClock(reader.conversation_id, marked_at)
    return isMoved
  }
}

/** Moves the actor's marker to the arrival of a message by `move`, and publishes what is unread then. */
async function mark(ctx: Context, actor: Actor, rootId: string, input: ReadMark, move: Move): Promise<void> {
  refuseSystem(actor)
  const moved = await ctx.write(async (tx) => {
    const place = await lockMembership(ctx, tx, actor, { root_id: rootId })
    const { conversation_id, unread_mentions = 0 } = place
    const at = await findArrival(tx, rootId, input)
    if (at === undefined) throw new ChatError('not_found')
    const reader = { ...place, user_id: actor.user_id, unread_mentions }
    if (!(await move(tx, reader, rootId, at))) return undefined
    const { unread, unread_replies } = (await countUnread(tx, reader, [rootId])).get(rootId)!
    const whole = ofConversation(await findUnread(tx, reader))
    const as_of = toInstant((await findNewest(tx, conversation_id))!)
    const payload = { conversation_id, root_id: rootId, unread, unread_replies, ...whole, as_of }
    tx.publishToUser(actor.user_id, conversation_id, { type: 'unread.update', payload })
    return place
  })
  if (moved) ctx.streams.receipts.moved(moved, rootId, actor.user_id)
}
