import { type Actor, isProgram } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { toDelta } from '../answers/rules.ts'
import { insertChunk, insertUnderWay, lockAndCountStreamed, setProgress } from '../answers/store.ts'
import { BY_CALLS, findAnsweredIn } from '../answers/store-streaming.ts'
import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import { assertContentFits } from './rules.ts'
import type { PostRootInput } from './schema.ts'
import type { MessageRow } from './store.ts'

/** The time from the last call after which a message that is streamed by calls is interrupted. */
export const CALLS_LEASE = 30 * SECOND

/** The time in which a process that streams a message for its host renews the lease. */
const PROCESS_LEASE = 10 * SECOND

/** Finds the persons who are answered by messages that begin to stream; `undefined` for all other posts. */
export function createStreaming(_: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  if (!posts.some(({ input }) => input.stream)) return undefined
  const answered = new Map<number, string | null>()
  return {
    async load(tx, targets) {
      for (const { n, parent_id } of targets) if (parent_id) answered.set(n, await findAnsweredIn(tx, parent_id))
    },
    decide: (_post, { target: { n } }) => ({ answered_id: answered.get(n) ?? null }),
    add: () => undefined,
    store: () => undefined,
  }
}

/**
 * Checks a message that is to be streamed: what needs its whole text is named at its end.
 *
 * @throws ChatError `validation_failed`
 */
export function assertStreamable({ content, role, mentions, attachment_ids, variant_of }: PostRootInput): void {
  const errors = [
    ...(role === 'assistant'
      ? [{ path: 'role', message: 'must not be assistant: a program streams its own text' }]
      : []),
    ...(mentions ? [{ path: 'mentions', message: AT_END }] : []),
    ...(attachment_ids?.length ? [{ path: 'attachment_ids', message: AT_END }] : []),
    ...(variant_of === undefined ? [] : [{ path: 'variant_of', message: 'must be left out of a streamed message' }]),
  ]
  if (errors.length > 0) throw new ChatError('validation_failed', { errors })
  assertContentFits(content, MAX_LENGTH.chunk)
}

const AT_END = 'must be left out of a message that begins to stream: name it at its end'

/** @throws ChatError `forbidden` for a person */
export function assertProgram(actor: Actor): void {
  if (!isProgram(actor))
    throw new ChatError('forbidden', { reason: 'role', message: 'Bots and system actors alone stream messages.' })
}

/**
 * Lets a message that a transaction has stored be streamed, with its first chunk.
 *
 * @param options.max how many a bot streams at once
 * @throws ChatError `conflict` beyond it
 */
export async function beginStreaming(
  tx: Tx,
  { actor, input: { content }, writer = BY_CALLS }: NewPost,
  row: MessageRow,
  { max }: { max: number },
): Promise<void> {
  const { id: message_id, conversation_id, created_at } = row
  if (actor.is_bot && (await lockAndCountStreamed(tx, actor.user_id)) >= max)
    throw new ChatError('conflict', { message: `A bot streams at most ${max} messages at once: end one first.` })
  const lease = writer === BY_CALLS ? CALLS_LEASE : PROCESS_LEASE
  await insertUnderWay(tx, { message_id, conversation_id, writer }, lease)
  if (content === '') return
  await setProgress(tx, message_id, { chunk_count: 1, bytes: Buffer.byteLength(content), paced_to: 0 }, lease)
  await addChunk(tx, row, { idx: 0, content, at: created_at })
}

/** Stores a chunk of a message, whose number is taken, with its event. */
export async function addChunk(
  tx: Tx,
  row: Pick<MessageRow, 'id' | 'conversation_id' | 'root_id' | 'parent_id' | 'depth'>,
  { idx, content, at }: { idx: number; content: string; at: number },
): Promise<void> {
  const { id: message_id, conversation_id, root_id, parent_id, depth } = row
  await insertChunk(tx, { message_id, idx, content, created_at: at })
  const payload = toDelta({ message_id, idx, conversation_id, root_id, parent_id, depth }, content)
  tx.emit(conversation_id, { type: 'message.delta', message_id, detail: { idx }, payload })
}
