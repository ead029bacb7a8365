import type { Context } from '../../context.ts'
import { assertMay } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { countWithin, fit, jsonBytes } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { lockAsMember, requireReader } from '../memberships/access.ts'
import { notifyAsker } from '../notifications/answered.ts'
import { CANCELLED, endAnswer } from './ending.ts'
import { type CancelledAnswer, type Chunk, ChunksQuery } from './schema.ts'
import { type AnswerRow, findAnswer, listChunks as findChunks, listChunkSizes } from './store.ts'
import { findAnsweredPerson } from './store-streaming.ts'

/**
 * Cancels an answer, or a message that a program streams; the text so far is kept. An ended one is left as it is. If another
 * user than the actor asked the assistant, and has no open stream, they are notified.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor asked or streams it, is the person who is answered by it, or may
 *   moderate the conversation; where members may stop the answers of its assistant, unless the actor may ask
 */
export const cancel = useCase({
  takes: ['actor', 'message_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, messageId): Promise<CancelledAnswer> => {
    const isAskerAway = await hasOtherAskerAway(ctx, actor, messageId)
    const { isCancelled, status } = await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { message_id: messageId })
      const message = (await findAnswer(tx, messageId))!
      const isOwn = message.posted_by === actor.user_id || (await findAnsweredPerson(tx, messageId)) === actor.user_id
      if (!isOwn) assertMay(ctx.access, { ...place, actor }, stoppedWith(ctx, message))
      const answer = { message_id: messageId, conversation_id: message.conversation_id }
      const isCancelled = await endAnswer(tx, answer, CANCELLED)
      if (isCancelled && isAskerAway) await notifyAsker(ctx, tx, answer, place.at)
      return { isCancelled, status: isCancelled ? CANCELLED.status : message.status }
    })
    if (isCancelled) ctx.answers.ended(messageId)
    return { message_id: messageId, status }
  },
})

/** The right with which others than the asker stop an answer, as its assistant is configured. */
function stoppedWith({ assistants }: Context, { role, assistant }: AnswerRow): 'ask' | 'moderate' {
  if (role !== 'assistant') return 'moderate'
  const settings = (assistant === null ? undefined : assistants.find(assistant)) ?? assistants.fallback
  return settings?.stop === 'members' ? 'ask' : 'moderate'
}

/** Whether a user other than the actor requested an answer, and has no open stream. */
async function hasOtherAskerAway(
  { db, streams: { presence } }: Context,
  actor: Actor,
  messageId: string,
): Promise<boolean> {
  const answer = await findAnswer(db, messageId)
  const asker = answer?.role === 'assistant' ? answer.posted_by : null
  return asker != null && asker !== actor.user_id && !(await presence.hasStream(asker))
}

/**
 * The chunks of an answer in order; none of a deleted one. A page of fewer than `limit` need not be the last: continue
 * with the last `idx` + 1 until a page is empty.
 *
 * @throws ChatError `not_found`
 */
export const listChunks = useCase({
  takes: ['actor', 'message_id'],
  input: ChunksQuery,
  errors: ['not_found'],
  run: (ctx, actor, messageId, input): Promise<Chunk[]> => {
    return ctx.db.snapshot(async (db) => {
      const row = await findAnswer(db, messageId)
      await requireReader(ctx, db, actor, row?.conversation_id)
      if (row!.deleted_at) return []
      const sizes = await listChunkSizes(db, messageId, input.from, input.limit)
      const last = sizes[countWithin(sizes.map((each) => each.size)) - 1]
      return last ? fit(await findChunks(db, messageId, input.from, last.idx), sizeOfChunk) : []
    })
  },
})

const sizeOfChunk = ({ content, part }: Chunk) =>
  jsonBytes(content) + 200 + (part ? Buffer.byteLength(JSON.stringify(part)) : 0)
