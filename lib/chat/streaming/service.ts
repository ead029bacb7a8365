import type { Context } from '../../context.ts'
import { assertMay } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { useCase } from '../../core/use-case.ts'
import { CLOCK_SKEW, spend } from '../../limits/rules.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { endAnswer } from '../answers/ending.ts'
import { type AnswerEnd, listChunks, type Progress, setProgress } from '../answers/store.ts'
import { BY_CALLS, countChunks, findProgress } from '../answers/store-streaming.ts'
import { lockAsMember, requireMember } from '../memberships/access.ts'
import { assertContentFits } from '../messages/rules.ts'
import { get } from '../messages/service.ts'
import { findMessage, type MessageRow } from '../messages/store.ts'
import { assertProgram, CALLS_LEASE, addChunk as storeChunk } from '../messages/streaming.ts'
import { completeStreamed, reviewStreamed } from './completing.ts'
import { isStored, storePart } from './parts.ts'
import { CHUNK_RATE, isLate } from './rules.ts'
import { type ChunkAnswer, ChunkInput, type EndedMessage, EndInput } from './schema.ts'

/**
 * Adds a chunk to a message that the actor streams by calls. It can be repeated: the same chunk is stored once. An ended message
 * stays as it is.
 *
 * @throws ChatError `not_found`; `forbidden` for another's message, and for one who may not post any more; `conflict` for another
 *   content of a number that is taken, for a later number, and for a message that a process streams; `rate_limited`;
 *   `validation_failed` beyond `limits.message_bytes`, and beyond the parts that a message may have; `attachment_not_ready`,
 *   `attachment_refused` for the file of a part
 */
export const addChunk = useCase({
  takes: ['actor', 'message_id'],
  input: ChunkInput,
  errors: ['not_found', 'forbidden', 'conflict', 'validation_failed', 'attachment_not_ready', 'attachment_refused'],
  run: async (ctx, actor, messageId, input): Promise<ChunkAnswer> => {
    if ('content' in input) assertContentFits(input.content, MAX_LENGTH.chunk)
    const { conversation_id, parent_id } = await findOwn(ctx, actor, messageId)
    const { status, next_idx, isEnded } = await ctx.write(
      async (tx) => {
        const place = await lockAsMember(ctx, tx, actor, { message_id: messageId })
        assertMay(ctx.access, { ...place, actor }, parent_id === null ? 'post' : 'reply')
        const row = (await findMessage(tx, messageId))!
        const progress = await findProgress(tx, messageId)
        if (!progress) return { status: row.status, next_idx: await countChunks(tx, messageId) }
        if (progress.writer !== BY_CALLS) throw new ChatError('conflict', { message: STREAMED_ELSEWHERE })
        if (isLate(place.at - row.created_at, ctx.config.bots.stream_seconds)) {
          await endAnswer(tx, { message_id: messageId, conversation_id }, LATE)
          return { status: LATE.status, next_idx: progress.chunk_count, isEnded: true }
        }
        if ('part' in input && input.part.type === 'file') assertMay(ctx.access, { ...place, actor }, 'attach')
        const chunk_count = await addTo(ctx, tx, { row, progress, at: place.at, user_id: actor.user_id }, input)
        return { status: row.status, next_idx: chunk_count }
      },
      { full_disk: 'refused' },
    )
    if (isEnded) ctx.answers.ended(messageId, LATE.status)
    return { status, next_idx }
  },
})

/** The end of a message that was streamed for too long. */
const LATE: AnswerEnd = { status: 'failed', finish_reason: 'failed', failure: 'timeout' }

const STREAMED_ELSEWHERE = 'A process of the host streams this message.'

/** Adds a chunk, unless it is stored already or empty, and renews the lease. @returns the number of chunks */
async function addTo(
  ctx: Context,
  tx: Tx,
  { row, progress, at, user_id }: { row: MessageRow; progress: Progress; at: number; user_id: string },
  input: ChunkInput,
): Promise<number> {
  const { idx } = input
  const { chunk_count, bytes } = progress
  const isEmpty = 'content' in input && input.content === ''
  if (!isEmpty && idx > chunk_count)
    throw new ChatError('conflict', { message: `The next chunk has the number ${chunk_count}.` })
  if (!isEmpty && idx < chunk_count) {
    const [stored] = await listChunks(tx, row.id, idx, idx)
    if (!isStored(stored, input)) throw new ChatError('conflict', { message: `Another chunk has the number ${idx}.` })
  }
  const { allowed, tat, retry_after_seconds = 1 } = spend(progress.paced_to, ctx.now(), CHUNK_RATE, CLOCK_SKEW)
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
  const next = { chunk_count, bytes, paced_to: tat }
  if (!isEmpty && idx === chunk_count) {
    next.chunk_count++
    if ('part' in input) await storePart(ctx, tx, { row, idx, at, user_id }, input.part)
    else {
      next.bytes += Buffer.byteLength(input.content)
      assertAllFit(next.bytes, ctx.config.limits.message_bytes)
      await storeChunk(tx, row, { idx, content: input.content, at })
    }
  }
  await setProgress(tx, row.id, next, CALLS_LEASE)
  return next.chunk_count
}

/** @throws ChatError `validation_failed` */
function assertAllFit(bytes: number, most: number): void {
  if (bytes <= most) return
  throw new ChatError('validation_failed', {
    errors: [{ path: 'content', message: `must be at most ${most} bytes of UTF-8 in all chunks` }],
  })
}

/**
 * Ends a message that the actor streams by calls: its mentions, notifications and files come with it. An ended message stays as
 * it is.
 *
 * @throws ChatError `not_found`, also for a file; `forbidden` for another's message; `conflict` for a message that a process
 *   streams, and for `mentions.all` in too large a conversation; `attachment_not_ready`, `attachment_refused`; `unavailable` when
 *   the hook fails
 */
export const end = useCase({
  takes: ['actor', 'message_id'],
  input: EndInput,
  errors: ['not_found', 'forbidden', 'conflict', 'attachment_not_ready', 'attachment_refused'],
  run: async (ctx, actor, messageId, input): Promise<EndedMessage> => {
    for (;;) {
      const row = await findOwn(ctx, actor, messageId)
      if (row.status !== 'streaming') break
      if ((await findProgress(ctx.db, messageId))?.writer !== BY_CALLS)
        if ((await findMessage(ctx.db, messageId))?.status === 'streaming')
          // It may have ended since it was read.
          throw new ChatError('conflict', { message: STREAMED_ELSEWHERE })
      const reviewed = await reviewStreamed(ctx, actor, row, input)
      const completion = { actor, input, asked: row.content, reviewed, writer: BY_CALLS }
      const status = await ctx.write((tx) => completeStreamed(ctx, tx, row, completion), { full_disk: 'refused' })
      // A chunk has come since: the host is asked about it, too.
      if (status === 'changed') continue
      if (status) ctx.answers.ended(messageId, status)
      break
    }
    return { message: await get.run(ctx, actor, messageId) }
  },
})

/**
 * A message that the actor has posted as a program.
 *
 * @throws ChatError `not_found` for an outsider; `forbidden` for a person, another's message, and an answer that the actor asked for
 */
async function findOwn(ctx: Context, actor: Actor, messageId: string): Promise<MessageRow> {
  const row = await findMessage(ctx.db, messageId)
  await requireMember(ctx, ctx.db, actor, row?.conversation_id)
  assertProgram(actor)
  if (row!.posted_by !== actor.user_id || row!.role === 'assistant')
    throw new ChatError('forbidden', {
      message: 'The bot or the part of the host that streams a message alone writes it.',
    })
  return row!
}
