import { childPath } from '../../chat/messages/rules.ts'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { Chat } from './finding.ts'
import { findPath } from './store-branch.ts'
import { findLastAnswer, findNewestAnswer, listPlaced, type PlacedMessage } from './store-place.ts'

/**
 * What a client asks for: a new question, another text of one, or another answer to one; with `run` the service finds out: a
 * question that has an answer at its place already is answered again.
 */
export interface Wish {
  kind: 'ask' | 'edit' | 'again' | 'run'
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
  /** The question of that answer, where it is asked again. */
  prompt?: string | null
}

/**
 * The place of a question in a chat: below the last answer that its client has of the chat and that is not deleted, else below
 * the newest one. Edited and repeated questions are variants of the answer that they name, else of the newest one at that place.
 *
 * @throws ChatError `not_found` for a message that is not in the chat
 */
export async function placeQuestion(db: Queries, chat: Chat, wish: Wish & { content: string }): Promise<QuestionPlace> {
  const { conversation_id, root_id } = chat
  const { kind, content, message_id } = wish
  if (root_id === null) return { where: { conversation_id } }
  const base = await findBase(db, chat, wish.answer_ids)
  const variant = await findVariant(db, { chat, base, kind, content, message_id })
  if (variant) {
    const where = variant.parent_id === null ? { conversation_id } : { parent_id: variant.parent_id }
    const isSame = variant.prompt === null || variant.prompt === content
    const isAgain = kind === 'again' || (kind === 'run' && isSame)
    return { where, variant_of: variant.id, ...(isAgain && { prompt: variant.prompt }) }
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

/** What is known of a question before its place. */
interface Sought extends Pick<Wish, 'kind' | 'message_id'> {
  chat: Chat
  base: PlacedMessage | undefined
  content: string
}

async function findVariant(
  db: Queries,
  { chat, base, kind, content, message_id }: Sought,
): Promise<PlacedMessage | undefined> {
  if (kind === 'ask') return undefined
  if (message_id !== undefined) {
    const [row] = await listPlaced(db, [message_id])
    if (!row || !isIn(chat, row) || row.is_gone) throw new ChatError('not_found')
    // A person's message: the answers to it stand below.
    return row.role === 'assistant' ? row : findNewestReply(db, row.id)
  }
  const same = kind === 'run' ? content : undefined
  if (base) return findNewestReply(db, base.id, same)
  const [root] = await listPlaced(db, [chat.root_id!])
  if (root?.role !== 'assistant') return findNewestReply(db, root!.id, same)
  return same === undefined || root.prompt === same ? root : undefined
}

/** How many replies are read first for an answer among them; then ten times as many, and so on. */
const FIRST_READ = 20

/** How many replies are read at once, at most, for an answer to the same question. */
const MAX_SAME_READ = 200

/** The newest answer among the replies to a message; with `prompt`, to that question, among the last replies. */
export async function findNewestReply(
  db: Queries,
  parentId: string,
  prompt?: string,
): Promise<PlacedMessage | undefined> {
  const { root_id, path, reply_count } = (await findPath(db, parentId))!
  const most = prompt === undefined ? Number.POSITIVE_INFINITY : MAX_SAME_READ
  for (let end = reply_count, count = FIRST_READ; end > 0 && count <= most; end -= count, count *= 10) {
    const paths = Array.from({ length: Math.min(count, end) }, (_, n) => childPath(path, end - 1 - n))
    const newest = await findLastAnswer(db, { root_id, paths, prompt })
    if (newest) return newest
  }
  return undefined
}

const isIn = (chat: Chat, row: PlacedMessage) => row.set_id === chat.set_id
