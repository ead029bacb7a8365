import type { QuestionContext } from '../chat/answers/schema-context.ts'
import { NewConversation } from '../chat/conversations/schema.ts'
import type { Metadata } from '../chat/conversations/schema-metadata.ts'
import { prepareConversation, storeConversation } from '../chat/conversations/service.ts'
import { findMembership } from '../chat/memberships/store.ts'
import type { PostBeside } from '../chat/messages/beside.ts'
import { PostRootInput } from '../chat/messages/schema.ts'
import { post } from '../chat/messages/service.ts'
import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { parseInput } from '../core/use-case.ts'
import { deleteChat, findChat, insertChat } from '../protocols/chats/store.ts'

/** A question as clients of OpenAI ask it. */
export interface OpenAiQuestion {
  content: string
  context: QuestionContext
  /** The key of the assistant. */
  assistant: string | undefined
  metadata: Metadata | undefined
  /** With the same key, the same question is asked once. */
  key: string | undefined
}

/** The conversation in which an actor asks who names none. The space keeps its name apart from those of clients. */
const HOME = { name: ' api', title: 'API' } as const

/** Another call has made the conversation. */
class HomeMade extends Error {}

/** Asks below an answer. @returns the id of the new answer @throws ChatError as `messages.reply` */
export async function askBelow(
  ctx: Context,
  actor: Actor,
  parent_id: string,
  question: OpenAiQuestion,
): Promise<string> {
  const posted = await post(ctx, { actor, input: toInput(question), where: { parent_id }, context: question.context })
  return posted.message_id
}

/**
 * Asks in the conversation *API* of the actor, which is made at first need.
 *
 * @returns the id of the new answer
 * @throws ChatError as `messages.postRoot`
 */
export async function askAtHome(ctx: Context, actor: Actor, question: OpenAiQuestion): Promise<string> {
  for (;;) {
    const home = await findHome(ctx, actor)
    try {
      return await (home === undefined ? foundHome(ctx, actor, question) : send(ctx, actor, home, question))
    } catch (error) {
      if (!(error instanceof HomeMade)) throw error
    }
  }
}

/** The conversation, unless the actor has left it or it is deleted. */
async function findHome({ db }: Context, { user_id }: Actor): Promise<string | undefined> {
  const row = await findChat(db, user_id, HOME.name)
  return row && (await findMembership(db, row.conversation_id, user_id)) ? row.conversation_id : undefined
}

async function foundHome(ctx: Context, actor: Actor, question: OpenAiQuestion): Promise<string> {
  const { user_id } = actor
  const own = prepareConversation(ctx, actor, parseInput(NewConversation, { title: HOME.title, layout: 'assistant' }))
  return send(ctx, actor, own.id, question, {
    is_founding: true,
    async before(tx) {
      const row = await findChat(tx, user_id, HOME.name)
      if (row && (await findMembership(tx, row.conversation_id, user_id))) throw new HomeMade()
      if (row) await deleteChat(tx, row)
      await storeConversation(ctx, tx, actor, own)
    },
    async after(tx) {
      const { id: conversation_id, created_at } = own
      await insertChat(tx, { user_id, name: HOME.name, conversation_id, root_id: null, metadata: null, created_at })
    },
  })
}

async function send(
  ctx: Context,
  actor: Actor,
  conversation_id: string,
  question: OpenAiQuestion,
  beside: Omit<PostBeside, 'identity'> = IN_HOME,
): Promise<string> {
  const { content, context, assistant = '', metadata = {} } = question
  const identity = ['api', content, assistant, JSON.stringify([context, metadata])]
  const posted = await post(ctx, {
    actor,
    input: toInput(question),
    where: { conversation_id },
    context,
    beside: { ...beside, identity },
  })
  return posted.message_id
}

const IN_HOME = { is_founding: false, before: async () => undefined, after: async () => undefined }

function toInput({ content, assistant, metadata, key }: OpenAiQuestion) {
  const input = parseInput(PostRootInput, {
    content,
    role: 'assistant',
    ...(assistant !== undefined && { assistant }),
    ...(metadata && { metadata }),
  })
  return key === undefined ? input : { ...input, idempotency_key: key }
}
