import type { Context } from '../../context.ts'
import { assertMay, may } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { isVisible } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { endAnswer, INTERRUPTED, REFUSED } from '../answers/ending.ts'
import { type AnswerEnd, replaceChunks } from '../answers/store.ts'
import { createAttaching, listChosen, replaceFiles } from '../attachments/attaching.ts'
import { toStored } from '../memberships/store-conversations.ts'
import { setMentions } from '../mentions/store.ts'
import { createBatch, type NewPost, type PostPlace } from '../messages/batch.ts'
import { deleteMessage } from '../messages/deleting.ts'
import { followMentionedIn } from '../messages/edit-mentions.ts'
import { createMentioning } from '../messages/mentioning.ts'
import { reviewMessage } from '../messages/review.ts'
import { findMessage, type MessageRow } from '../messages/store.ts'
import { replaceMetadata } from '../messages/store-changes.ts'
import type { NewMessage } from '../messages/store-posts.ts'
import { endOf } from './rules.ts'
import type { EndInput } from './schema.ts'

/** The whole text of a message as the host wants it, or why the host refuses it. */
export type Reviewed = { content: string } | { refusal: string }

/** The end of a message, with what the host was asked about. */
export interface Completion {
  actor: Actor
  input: EndInput
  /** The text that the host was asked about. */
  asked: string
  reviewed: Reviewed
  /** The writer that ends it; another one leaves it as it is. */
  writer: string
  /** Whether its time is over. */
  isLate?: boolean
}

/**
 * Asks the host about a message with all of its text.
 *
 * @throws ChatError `unavailable` when the hook fails; `validation_failed` for an invalid text of the host; as `listChosen`
 */
export async function reviewStreamed(ctx: Context, actor: Actor, row: MessageRow, input: EndInput): Promise<Reviewed> {
  const { content } = row
  if (!ctx.host.hooks.beforeMessage || !isVisible(content)) return { content }
  const { id: message_id, conversation_id, parent_id, quote_id, role } = row
  const ids = { message_id, ...(parent_id && { parent_id }), ...(quote_id && { quote_id }) }
  const chosen = { ids: filesOf(row, input), user_id: actor.user_id, conversation_id, message_id }
  const attachments = input.failed ? [] : await listChosen(ctx, chosen)
  const more = { ...(input.metadata && { metadata: input.metadata }), ...(attachments.length > 0 && { attachments }) }
  try {
    return { content: await reviewMessage(ctx, { actor, conversation_id, ...ids, role, content, ...more }) }
  } catch (error) {
    if (error instanceof ChatError && error.code === 'forbidden') return { refusal: error.message }
    throw error
  }
}

/**
 * Ends a message that a program has streamed, with what it gets only now: its mentions and notifications, its files and its
 * metadata. That of one who may not post any more is interrupted, and one that the host refuses is deleted.
 *
 * @returns how it has ended; `changed` if its text is no more the one that the host was asked about; `undefined` if it had ended
 *   before, or has another writer
 * @throws ChatError before it writes: `forbidden`, `conflict` for mentions; `not_found`, `attachment_not_ready`,
 *   `attachment_refused` for a file
 */
export async function completeStreamed(
  ctx: Context,
  tx: Tx,
  { id, conversation_id, parent_id }: Pick<MessageRow, 'id' | 'conversation_id' | 'parent_id'>,
  completion: Completion,
): Promise<AnswerEnd['status'] | 'changed' | undefined> {
  const { actor, input, asked, reviewed, writer, isLate } = completion
  const target = { n: 0, conversation_id, parent_id, user_id: actor.user_id }
  const batch = createBatch(ctx)
  const place = (await batch.load(tx, [target], { isSystem: actor.system !== undefined })).get(0)
  const row = await findMessage(tx, id)
  if (!place || row?.status !== 'streaming') return undefined
  if (row.content !== asked) return 'changed'
  const at = Math.max(ctx.now(), place.target.clock + 1)
  tx.advanceClock(conversation_id, at)
  const how = { only: { writer }, isReviewed: true }
  const answer = { message_id: id, conversation_id }

  const finish = async (end: AnswerEnd) => ((await endAnswer(tx, answer, end, how)) ? end.status : undefined)
  if ('refusal' in reviewed) {
    const status = await finish({ status: 'cancelled', finish_reason: REFUSED })
    if (status) await deleteMessage(tx, row, { at, by: actor.user_id, reason: reviewed.refusal })
    return status
  }
  const { content } = reviewed
  const age = isLate ? Number.POSITIVE_INFINITY : at - row.created_at
  const isAllowed = may(ctx.access, { ...place.target, actor }, parent_id === null ? 'post' : 'reply')
  const end = isAllowed ? endOf({ ...input, content, age }, ctx.config.bots.stream_seconds) : INTERRUPTED
  const additions =
    end.status === 'complete' ? await decide(ctx, tx, { ...completion, row, place, content, at }) : undefined
  // The row of the answer is locked with the conversation: it is still there.
  if (content !== asked) await replaceChunks(tx, id, content, at)
  const status = await finish(end)
  if (status) await additions?.()
  return status
}

/** The files of a message: those of its parts, which it has already, and those that it gets at its end. */
function filesOf({ attachment_list }: MessageRow, { attachment_ids = [] }: EndInput): string[] {
  const own = attachment_list ? (JSON.parse(attachment_list) as { id: string }[]).map(({ id }) => id) : []
  return [...new Set([...own, ...attachment_ids])]
}

/** Decides on what a complete message gets. @returns what stores it */
async function decide(
  ctx: Context,
  tx: Tx,
  {
    actor,
    input,
    row,
    place,
    content,
    at,
  }: Completion & { row: MessageRow; place: PostPlace; content: string; at: number },
): Promise<() => Promise<void>> {
  const { conversation_id, parent_id } = row
  const { mentions, attachment_ids, metadata } = input
  if (attachment_ids?.length) assertMay(ctx.access, { ...place.target, actor }, 'attach')
  // Files of parts are attached, and stay before those.
  const replaced = row.attachment_list && attachment_ids?.length ? filesOf(row, input) : undefined
  const where = parent_id === null ? { conversation_id } : { parent_id }
  const post: NewPost = {
    actor,
    input: { content, mentions, quote_id: row.quote_id ?? undefined, ...(!replaced && { attachment_ids }) },
    where,
  }
  const parts = [createMentioning(ctx, [post]), createAttaching(ctx, [post])].filter((part) => part !== undefined)
  const target = { n: 0, conversation_id, parent_id, user_id: actor.user_id }
  for (const part of parts) await part.load(tx, [target])
  const columns: Partial<NewMessage> = Object.assign({}, ...parts.map((part) => part.decide(post, place)))
  // Its users hear of it now.
  const complete = { ...row, ...columns, content, created_at: at }

  return async () => {
    if (metadata) await replaceMetadata(tx, row.id, toStored(metadata))
    if (columns.mention_origins !== undefined || columns.mention_all !== undefined)
      await setMentions(tx, row.id, { mention_all: null, mentioned: null, mention_origins: null, ...columns })
    const mentioned = columns.mentioned?.split(',') ?? []
    if (mentioned.length > 0 && place.target.is_direct === 0) await followMentionedIn(tx, row, mentioned)
    for (const part of parts) part.add(complete, post, place)
    for (const part of parts) await part.store(tx)
    if (replaced) await replaceFiles(ctx, tx, row, { user_id: actor.user_id, ids: replaced })
  }
}
