import type { QuestionContext } from '../../chat/answers/schema-context.ts'
import { NewConversation } from '../../chat/conversations/schema.ts'
import type { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { prepareConversation, storeConversation } from '../../chat/conversations/service.ts'
import { unlessOutside } from '../../chat/memberships/access.ts'
import type { PostBeside } from '../../chat/messages/beside.ts'
import { PostRootInput } from '../../chat/messages/schema.ts'
import { findAsked, post } from '../../chat/messages/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, type ErrorCode } from '../../core/errors.ts'
import { parseInput } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { type Chat, findChatFor } from './finding.ts'
import { placeQuestion, type QuestionPlace, type Wish } from './placing.ts'
import { MAX_CHATS } from './rules.ts'
import { deleteLeastUsed, findChat, insertChat, setChatRoot } from './store.ts'
import { findOwnUnderWay } from './store-place.ts'

/** A question in a chat, which it begins if there is none of that name. */
export interface ChatQuestion extends Wish {
  name: string
  /** The conversation of a new chat, else a new one of the actor alone. */
  conversation_id?: string | undefined
  /** The text; of another answer to the same question, that question has it. */
  content: string
  assistant?: string | undefined
  attachment_ids?: string[] | undefined
  /** What the assistant is told before the question. */
  context?: QuestionContext | undefined
  metadata?: Metadata | undefined
  /** With the same key, the same question is asked once. */
  key?: string | undefined
}

/** An answer that is written now, or was asked for with the same key. */
export interface AskedAnswer {
  message_id: string
  is_repeated: boolean
}

/** The codes of a call that asks in a chat, or decides on calls of its answers, and streams the answer. */
export const STREAMED_ASKING: readonly ErrorCode[] = [
  'validation_failed',
  'forbidden',
  'not_found',
  'conflict',
  'message_streaming',
  'message_deleted',
  'thread_too_deep',
  'idempotency_mismatch',
  'attachment_not_ready',
  'attachment_refused',
  'too_many_streams',
  'unavailable',
]

/** The chat has got its first question meanwhile, or its name. */
class ChatBegun extends Error {}

/**
 * Asks in a chat.
 *
 * @throws ChatError as `messages.postRoot` and `messages.reply`; `not_found` for a chat or a message of others; `conflict` for
 *   another conversation than that of the chat; `message_streaming` while an answer to the actor runs or waits there
 */
export async function askInChat(ctx: Context, actor: Actor, question: ChatQuestion): Promise<AskedAnswer> {
  const { key } = question
  const identity = identityOf(question)
  const earlier = key === undefined ? undefined : await findAsked(ctx, actor, { key, identity })
  if (earlier !== undefined) return { message_id: earlier, is_repeated: true }
  for (;;) {
    const chat = await findChatFor(ctx, ctx.db, actor, question.name)
    try {
      return await (chat ? askAgain(ctx, actor, chat, question) : beginChat(ctx, actor, question))
    } catch (error) {
      if (!(error instanceof ChatBegun)) throw error
    }
  }
}

/** What makes two questions with one key the same. */
function identityOf({ kind, name, message_id = '', conversation_id = '', ...question }: ChatQuestion): string[] {
  const { content, assistant = '', attachment_ids = [], context = [], metadata } = question
  const more = context.length > 0 || metadata ? [JSON.stringify([context, metadata])] : []
  return ['chat', name, kind, message_id, conversation_id, content, assistant, ...attachment_ids, ...more]
}

const OTHER_CONVERSATION = 'The chat is in another conversation.'

async function askAgain(ctx: Context, actor: Actor, chat: Chat, question: ChatQuestion): Promise<AskedAnswer> {
  const { conversation_id } = question
  if (conversation_id !== undefined && conversation_id !== chat.conversation_id)
    throw new ChatError('conflict', { message: OTHER_CONVERSATION })
  const place = await placeQuestion(ctx.db, chat, question)
  const content = place.prompt === undefined ? question.content : (place.prompt ?? '')
  const { user_id } = actor
  const named = { user_id, name: chat.name, conversation_id: chat.conversation_id, metadata: null }
  return send(ctx, actor, { ...question, content, attachment_ids: filesFor(place, question) }, place, {
    identity: identityOf(question),
    is_founding: false,
    async before(tx) {
      const present = await findChat(tx, user_id, chat.name)
      if (chat.is_named && present?.root_id !== chat.root_id) throw new ChatBegun()
      if (chat.set_id !== null && (await findOwnUnderWay(tx, chat.set_id, user_id)) !== undefined)
        throw new ChatError('message_streaming')
    },
    async after(tx, { id, parent_id }) {
      if (parent_id !== null) return
      // The name moves to the new variant of the root.
      const row = { ...named, root_id: id, created_at: ctx.now() }
      if (await insertChat(tx, row)) await deleteLeastUsed(tx, user_id, MAX_CHATS)
      else await setChatRoot(tx, row)
    },
  })
}

/**
 * The files of a question; `undefined` for those that it had before. An edited one has those that are sent with it alone. A question that
 * is a message of its own keeps its files, whatever a client sends with it again.
 */
function filesFor({ variant_of, prompt }: QuestionPlace, { attachment_ids }: ChatQuestion): string[] | undefined {
  if (variant_of === undefined) return attachment_ids
  if (prompt === null) return undefined
  return prompt === undefined ? (attachment_ids ?? []) : attachment_ids
}

async function beginChat(ctx: Context, actor: Actor, question: ChatQuestion): Promise<AskedAnswer> {
  const { name, kind, message_id } = question
  // It names a message of a chat that is not there.
  if (kind !== 'ask' && message_id !== undefined) throw new ChatError('not_found')
  const { user_id } = actor
  const given = question.conversation_id
  const own = given === undefined ? prepareOwn(ctx, actor) : undefined
  const conversation_id = given ?? own!.id
  return send(
    ctx,
    actor,
    question,
    { where: { conversation_id } },
    {
      identity: identityOf(question),
      is_founding: own !== undefined,
      async before(tx: Tx) {
        if (await findChat(tx, user_id, name)) throw new ChatBegun()
        if (own) await storeConversation(ctx, tx, actor, own)
      },
      async after(tx, { id }) {
        const row = { user_id, name, conversation_id, root_id: id, metadata: null, created_at: ctx.now() }
        await insertChat(tx, row)
        await deleteLeastUsed(tx, user_id, MAX_CHATS)
      },
    },
  )
}

/** A new conversation of the actor alone. @throws ChatError `forbidden` */
export function prepareOwn(ctx: Context, actor: Actor, title = '') {
  return prepareConversation(ctx, actor, parseInput(NewConversation, { title, layout: 'assistant' }))
}

/** A question as a post, with its key. */
export function toPost(
  { content, assistant, attachment_ids, metadata, key }: Omit<ChatQuestion, 'name' | keyof Wish>,
  variant_of?: string,
): PostRootInput {
  const input = parseInput(PostRootInput, {
    content,
    role: 'assistant',
    ...(assistant !== undefined && { assistant }),
    ...(attachment_ids !== undefined && { attachment_ids }),
    ...(metadata && { metadata }),
    ...(variant_of !== undefined && { variant_of }),
  })
  return key === undefined ? input : { ...input, idempotency_key: key }
}

async function send(
  ctx: Context,
  actor: Actor,
  question: ChatQuestion,
  { where, variant_of }: QuestionPlace,
  beside: PostBeside,
): Promise<AskedAnswer> {
  const { context } = question
  const posted = await post(ctx, {
    actor,
    input: toPost(question, variant_of),
    where,
    ...(context && { context }),
    beside,
  }).catch(
    'parent_id' in where
      ? unlessOutside(ctx, actor, { message_id: where.parent_id }, 'reply')
      : unlessOutside(ctx, actor, where, 'post'),
  )
  return { message_id: posted.message_id, is_repeated: posted.idempotency_replayed !== undefined }
}
