import type { Part } from '../../chat/answers/schema-parts.ts'
import type { WrittenPiece } from '../../chat/answers/service-rows.ts'
import { requireReader } from '../../chat/memberships/access.ts'
import type { Message } from '../../chat/messages/schema.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { foldParts } from '../../core/parts.ts'
import { pageOf, readBranch, readMessages } from '../chats/branch.ts'
import { getChatFor } from '../chats/finding.ts'
import { urlsOf } from '../rows/urls.ts'
import type { Snapshot } from './rules.ts'
import { type Shown, toAgUiMessages } from './rules-messages.ts'

/** How many messages a snapshot has. */
const MAX_MESSAGES = 200

/** Which messages of a chat are read, and how they are shown. */
export interface HistoryWish extends Pick<Shown, 'question_ids' | 'running_id'> {
  /** The last message. Default: the newest answer. */
  leaf?: string
  /** How the last message is, where that is not what is stored by now. */
  last?: { status: Message['status']; parts: Part[] }
}

/**
 * The messages of a chat down to one of them, as many of the last ones as fit.
 *
 * @throws ChatError `not_found`, also for a message that is not in the chat
 */
export function readHistory(
  ctx: Context,
  actor: Actor,
  name: string,
  { leaf, last, ...shown }: HistoryWish,
): Promise<Snapshot> {
  const urlOf = urlsOf(ctx.config)
  return ctx.db.snapshot(async (db) => {
    const chat = await getChatFor(ctx, db, actor, name)
    const { role } = await requireReader(ctx, db, actor, chat.conversation_id)
    const { page, next_before } = pageOf(await readBranch(db, chat, leaf), { limit: MAX_MESSAGES })
    const read = await readMessages(ctx, db, { actor, role }, page)
    const messages = read.map((each) => (last && each.id === leaf ? { ...each, ...last } : each))
    return {
      messages: messages.flatMap((each) => toAgUiMessages(each, { ...shown, urlOf })),
      has_earlier: next_before !== undefined,
    }
  })
}

/** The messages of a chat at a wait of an answer. @param rows those of the answer up to there @throws ChatError `not_found` */
export function readWaiting(
  ctx: Context,
  actor: Actor,
  name: string,
  { message_id, rows, question_ids }: { message_id: string; rows: WrittenPiece[] } & Pick<Shown, 'question_ids'>,
): Promise<Snapshot> {
  const parts = foldParts<Part>(rows.map(({ row }) => row))
  return readHistory(ctx, actor, name, { leaf: message_id, last: { status: 'waiting', parts }, question_ids })
}
