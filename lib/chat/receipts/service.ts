import type { Context } from '../../context.ts'
import { type Actor, refuseSystem } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { fromCursor, toCursor } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { requireMember } from '../memberships/access.ts'
import { toPolicy } from '../memberships/rules-settings.ts'
import { findConversation } from '../memberships/store-conversations.ts'
import { findMessage } from '../messages/store.ts'
import { findThreadConversation } from '../threads/store.ts'
import { type MessageReaders, ReadersQuery, type ThreadReader, type ThreadReaders } from './schema.ts'
import { countReaders, findSharing, listMarkers, listReaders, type ReaderRow } from './store.ts'

/** The markers of a thread that are shown. */
const MAX_MARKERS = 1_000

/**
 * A page of the participants with a read marker at the arrival of a message or later, except its author.
 *
 * @throws ChatError `not_found`, also with `receipts.enabled = false`; `forbidden` if the policy of the conversation or
 *   the actor's own settings have no receipts, and for a system actor; `message_deleted`; `invalid_cursor`
 */
export const ofMessage = useCase({
  takes: ['actor', 'message_id'],
  input: ReadersQuery,
  errors: ['not_found', 'forbidden', 'message_deleted', 'invalid_cursor'],
  run: (ctx, actor, messageId, input): Promise<MessageReaders> => {
    const after = input.after === undefined ? { id: '' } : fromCursor(input.after)
    return ctx.db.snapshot(async (db) => {
      const message = await findMessage(db, messageId)
      await requireReceipts(ctx, db, actor, message?.conversation_id)
      if (message!.deleted_at !== null) throw new ChatError('message_deleted')
      if (!after) throw new ChatError('invalid_cursor')
      // The author of an answer is the assistant.
      const read = { ...message!, ...(message!.role === 'assistant' && { posted_by: null }) }
      const rows = await listReaders(db, read, after.id, input.limit + 1)
      const page = rows.slice(0, input.limit)
      const last = page.length < rows.length ? page.at(-1) : undefined
      return {
        readers: page.map(toReader),
        count: await countReaders(db, read),
        ...(last && { next_after: toCursor({ at: 0, id: last.user_id }) }),
      }
    })
  },
})

/**
 * The read markers of the participants in a thread, latest first; at most 1,000.
 *
 * @throws ChatError `not_found`, `forbidden` as {@link ofMessage}
 */
export const ofThread = useCase({
  takes: ['actor', 'root_id'],
  errors: ['not_found', 'forbidden'],
  run: (ctx, actor, rootId): Promise<ThreadReaders> =>
    ctx.db.snapshot(async (db) => {
      const conversationId = await findThreadConversation(db, rootId)
      await requireReceipts(ctx, db, actor, conversationId)
      return { readers: (await listMarkers(db, conversationId!, rootId, MAX_MARKERS)).map(toReader) }
    }),
})

const toReader = ({ user_id, read_at }: ReaderRow): ThreadReader => ({ user_id, read_at: toInstant(read_at) })

/** @throws ChatError `not_found`; `forbidden` for a user who does not share receipts, and so does not see any */
async function requireReceipts(
  ctx: Context,
  db: Queries,
  actor: Actor,
  conversationId: string | undefined,
): Promise<void> {
  if (!ctx.config.receipts.enabled) throw turnedOff('receipts.enabled')
  await requireMember(ctx, db, actor, conversationId)
  refuseSystem(actor)
  const conversation = (await findConversation(db, conversationId!))!
  if (toPolicy(conversation).receipts === 'off')
    throw new ChatError('forbidden', { message: 'This conversation has no read receipts.' })
  const { here, everywhere } = await findSharing(db, conversationId!, actor.user_id)
  if (!everywhere) throw new ChatError('forbidden', { message: 'You have turned off read receipts.' })
  if (!here) throw new ChatError('forbidden', { message: 'You have turned off read receipts for this conversation.' })
}
