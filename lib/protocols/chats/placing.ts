import { childPath } from '../../chat/messages/rules.ts'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { Chat } from './finding.ts'
import { findPath } from './store-branch.ts'
import { findLastAnswer, findNewestAnswer, listPlaced, type PlacedMessage } from './store-place.ts'

/** What a client asks for: a new question, another text of one, or another answer to one. */
export interface Wish {
  kind: 'ask' | 'edit' | 'again'
  /** The answers that the client has before the question, in its order, by ids of this service. */
  answer_ids: readonly string[]
  /** The message that is edited or answered again, by an id of this service. */
  message_id?: string | undefined
}

/** Where a question goes. */
export interface QuestionPlace {
  where: { conversation_id: string } | { parent_id: string }
  /** The answer of which this one is a variant. */
  variant_of?: string
  /** The question of that answer. */
  prompt?: string | null
}

/**
 * The place of a question in a chat: below the last answer that its client has of the chat and that is not deleted, else below
 * the newest one. Edited and repeated questions are variants of the answer that they name, else of the newest one at that place.
 *
 * @throws ChatError `not_found` for a message that is not in the chat
 */
export async function placeQuestion(db: Queries, chat: Chat, wish: Wish): Promise<QuestionPlace> {
  const { conversation_id, root_id } = chat
  if (root_id === null) return { where: { conversation_id } }
  const base = await findBase(db, chat, wish.answer_ids)
  const variant = wish.kind === 'ask' ? undefined : await findVariant(db, { chat, base, message_id: wish.message_id })
  if (variant) {
    const where = variant.parent_id === null ? { conversation_id } : { parent_id: variant.parent_id }
    return { where, variant_of: variant.id, prompt: variant.prompt }
  }
  const newest = base ?? (await findNewestAnswer(db, root_id))
  return { where: { parent_id: newest?.id ?? root_id } }
}

/** How many answers of a client are looked at, from the last one on. */
const MAX_LOOKED_AT = 200

async function findBase(db: Queries, chat: Chat, answerIds: readonly string[]): Promise<PlacedMessage | undefined> {
  const ids = answerIds.slice(-MAX_LOOKED_AT)
  const rows = ids.length > 0 ? await listPlaced(db, [...new Set(ids)]) : []
  const own = new Map(
    rows.flatMap((row) => (isIn(chat, row) && row.role === 'assistant' && !row.is_gone ? [[row.id, row]] : [])),
  )
  return ids.flatMap((id) => own.get(id) ?? []).at(-1)
}

async function findVariant(
  db: Queries,
  { chat, base, message_id }: { chat: Chat; base: PlacedMessage | undefined; message_id: string | undefined },
): Promise<PlacedMessage | undefined> {
  if (message_id !== undefined) {
    const [row] = await listPlaced(db, [message_id])
    if (!row || !isIn(chat, row) || row.is_gone) throw new ChatError('not_found')
    // A person's message: the answers to it stand below.
    return row.role === 'assistant' ? row : findNewestReply(db, row.id)
  }
  if (base) return findNewestReply(db, base.id)
  const [root] = await listPlaced(db, [chat.root_id!])
  return root?.role === 'assistant' ? root : findNewestReply(db, root!.id)
}

/** How many replies are read first for an answer among them; then ten times as many, and so on. */
const FIRST_READ = 20

/** The newest answer among the replies to a message. */
export async function findNewestReply(db: Queries, parentId: string): Promise<PlacedMessage | undefined> {
  const { root_id, path, reply_count } = (await findPath(db, parentId))!
  for (let end = reply_count, count = FIRST_READ; end > 0; end -= count, count *= 10) {
    const paths = Array.from({ length: Math.min(count, end) }, (_, n) => childPath(path, end - 1 - n))
    const newest = await findLastAnswer(db, root_id, paths)
    if (newest) return newest
  }
  return undefined
}

const isIn = (chat: Chat, row: PlacedMessage) => row.set_id === chat.set_id
