import type { QuestionContext } from '../chat/answers/schema-context.ts'
import { storeConversation } from '../chat/conversations/service.ts'
import { findMembership } from '../chat/memberships/store.ts'
import type { PostBeside } from '../chat/messages/beside.ts'
import { post } from '../chat/messages/service.ts'
import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { type ChatQuestion, prepareOwn, toPost } from '../protocols/chats/asking.ts'
import { API_CHAT } from '../protocols/chats/rules.ts'
import { deleteChat, findChat, insertChat } from '../protocols/chats/store.ts'

/** A question as clients of OpenAI ask it. */
export type OpenAiQuestion = Pick<ChatQuestion, 'content' | 'assistant' | 'metadata' | 'key'> & {
  context: QuestionContext
}

/** A question over HTTP: its body as it was sent, the key of its header, and a signal that is aborted when its client leaves. */
export interface SentQuestion {
  body: unknown
  key: string | null
  signal: AbortSignal
}

/** Another call has made the conversation. */
class HomeMade extends Error {}

/** Asks below an answer. @returns the id of the new answer @throws ChatError as `messages.reply` */
export async function askBelow(
  ctx: Context,
  actor: Actor,
  parent_id: string,
  question: OpenAiQuestion,
): Promise<string> {
  const posted = await post(ctx, { actor, input: toPost(question), where: { parent_id }, context: question.context })
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
  const row = await findChat(db, user_id, API_CHAT)
  return row && (await findMembership(db, row.conversation_id, user_id)) ? row.conversation_id : undefined
}

async function foundHome(ctx: Context, actor: Actor, question: OpenAiQuestion): Promise<string> {
  const { user_id } = actor
  const own = prepareOwn(ctx, actor, 'API')
  return send(ctx, actor, own.id, question, {
    is_founding: true,
    async before(tx) {
      const row = await findChat(tx, user_id, API_CHAT)
      if (row && (await findMembership(tx, row.conversation_id, user_id))) throw new HomeMade()
      if (row) await deleteChat(tx, row)
      await storeConversation(ctx, tx, actor, own)
    },
    async after(tx) {
      const { id: conversation_id, created_at } = own
      await insertChat(tx, { user_id, name: API_CHAT, conversation_id, root_id: null, metadata: null, created_at })
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
    input: toPost(question),
    where: { conversation_id },
    context,
    beside: { ...beside, identity },
  })
  return posted.message_id
}

const IN_HOME = { is_founding: false, before: async () => undefined, after: async () => undefined }
