import { findUser } from '../accounts/users/store.ts'
import type { Usage } from '../chat/answers/schema.ts'
import { lockAndCountUnderWay } from '../chat/answers/store.ts'
import { lockAsSystem } from '../chat/memberships/access.ts'
import { countUntitled, updateConversation } from '../chat/memberships/store-conversations.ts'
import { findMessage, type MessageRow } from '../chat/messages/store.ts'
import { assertWithinQuotas, reservedFor } from '../chat/metering/asking.ts'
import { countTokens } from '../chat/metering/rules.ts'
import { findEntry } from '../chat/metering/store.ts'
import type { Context, UsedTokens } from '../context.ts'
import { splitRoles } from '../core/actor.ts'
import { ChatError, causeText } from '../core/errors.ts'
import { wholeBegin } from '../core/whole-begin.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Queries } from '../storage/database.ts'
import type { TaskHandler } from '../tasks/runner.ts'
import type { AssistantSettings, Assistants } from './assistants.ts'
import { readAnswer } from './openai/answer.ts'
import type { AssistantRequest } from './provider.ts'

/** The longest title, in UTF-16 units. */
const MAX_TITLE = 80

/** What the model gets of the question, and of the answer, in UTF-16 units. */
const MAX_SHOWN = 4_000

/** What a model may write before it counts as no title, in bytes. */
const MAX_WRITTEN = 16 * 1024

/** With more messages it is not the first answer; another one to the same question may be the second message. */
const MAX_MESSAGES = 2

const REQUEST =
  'Give this conversation a title of at most 80 characters, in its language. Write the title alone, on one line, without quotation marks.'

/**
 * Adds the task that makes a title, at the end of the first answer of a conversation without one. Part of the transaction that
 * ends the answer.
 */
export async function wantTitle(
  tx: Tx,
  { titles }: AssistantSettings,
  answer: { conversation_id: string; message_id: string },
) {
  if (!titles) return
  const { conversation_id, message_id } = answer
  const count = await countUntitled(tx, conversation_id)
  if (count === undefined || count > MAX_MESSAGES) return
  tx.enqueue({ kind: 'title.make', key: conversation_id, detail: { message_id } })
}

type TitlesContext = Pick<Context, 'config' | 'db' | 'write' | 'now' | 'log'> & { assistants: Assistants }

/** Makes titles of conversations: asks the assistant of the first answer for one. What fails is not tried again. */
export function createTitles(ctx: TitlesContext): TaskHandler {
  return async ({ key: conversation_id, detail, signal }) => {
    const done = { done: true } as const
    const message = await findMessage(ctx.db, String(detail.message_id))
    if (!message || message.deleted_at || message.posted_by === null) return done
    if ((await countUntitled(ctx.db, conversation_id)) === undefined) return done
    const { find, fallback } = ctx.assistants
    const assistant = (message.assistant ? find(message.assistant) : undefined) ?? fallback
    // It has been asked before, and has counted.
    if (!assistant || (await findEntry(ctx.db, message.id, 'title'))) return done
    try {
      if (!(await ctx.write((tx) => hasRoom(ctx, tx, message)))) return done
      const request = await toRequest(ctx.db, message, assistant, signal)
      const { text, usage } = await read(assistant, request)
      await ctx.write((tx) => store(ctx, tx, { message, assistant, request, text, usage }))
    } catch (error) {
      // The next start of a service tries again.
      if (signal.aborted) throw error
      ctx.log.warn('The assistant has made no title', { conversation_id, cause: causeText(error) })
    }
    return done
  }
}

/** Whether there is room in the quotas of the user who asked. */
async function hasRoom(ctx: TitlesContext, tx: Queries, message: MessageRow): Promise<boolean> {
  const user_id = message.posted_by!
  const user = await findUser(tx, user_id)
  if (!user) return false
  const { quota } = await lockAndCountUnderWay(tx, user_id)
  const wanted = { ...reservedFor(ctx, message.assistant), answers: 0 }
  try {
    await assertWithinQuotas(tx, ctx.config, { user_id, roles: splitRoles(user.roles), wanted, at: ctx.now(), quota })
    return true
  } catch (error) {
    if (error instanceof ChatError) return false
    throw error
  }
}

async function toRequest(
  db: Queries,
  message: MessageRow,
  { key, timeout_seconds }: AssistantSettings,
  stopping: AbortSignal,
): Promise<AssistantRequest> {
  const { id: message_id, conversation_id, root_id, parent_id, posted_by } = message
  const question = message.prompt ?? (parent_id === null ? '' : ((await findMessage(db, parent_id))?.content ?? ''))
  const user_id = posted_by!
  return {
    ...{ message_id, conversation_id, root_id, requested_by: user_id, assistant: key, purpose: 'title' },
    conversation: { id: conversation_id, title: '' },
    metadata: {},
    ...{ tools: [], step: 1, so_far: [] },
    turns: [
      { role: 'user', content: wholeBegin(question, MAX_SHOWN), user_id },
      { role: 'assistant', content: wholeBegin(message.content, MAX_SHOWN) },
      { role: 'user', content: REQUEST },
    ],
    open: (): AsyncIterable<Uint8Array> => {
      throw new ChatError('not_found')
    },
    signal: AbortSignal.any([stopping, AbortSignal.timeout(timeout_seconds * 1000)]),
  }
}

async function read(
  { write }: AssistantSettings,
  request: AssistantRequest,
): Promise<{ text: string; usage?: Usage | undefined }> {
  let text = ''
  const { usage } = await readAnswer(write(request), { signal: request.signal, answer_bytes: MAX_WRITTEN }, (piece) => {
    text += piece
  })
  return { text, usage }
}

/** Stores a title, unless a user has given one meanwhile, and what it has used. */
async function store(
  ctx: Pick<Context, 'now'>,
  tx: Tx,
  made: {
    message: MessageRow
    assistant: AssistantSettings
    request: AssistantRequest
    text: string
    usage?: Usage | undefined
  },
): Promise<void> {
  const { message, assistant, request, text, usage } = made
  const { id: message_id, conversation_id, posted_by: user_id, created_at: at } = message
  if ((await lockAsSystem(ctx, tx, conversation_id)) === undefined) return
  const title = toTitle(text)
  if (title !== '' && (await countUntitled(tx, conversation_id)) !== undefined)
    await updateConversation(tx, conversation_id, { title })
  const prompt = request.turns.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
  const used: UsedTokens = {
    ...{ message_id, conversation_id, user_id, kind: 'title', at, steps: 1, assistant: assistant.key },
    ...countTokens(usage, { prompt, answer: Buffer.byteLength(text) }),
  }
  tx.emit(conversation_id, { type: 'conversation.updated', used })
}

/** The first line of a text as a title; empty if there is none. */
export function toTitle(text: string): string {
  const line = text
    .slice(0, MAX_SHOWN)
    .split(/[\r\n\u2028\u2029]/)
    .map((each) => each.replace(/\p{C}/gu, '').trim())
    .find((each) => each !== '')
  const bare = /^["'“„«](.*)["'”“»]$/u.exec(line ?? '')?.[1] ?? line ?? ''
  return wholeBegin(bare.trim(), MAX_TITLE).trim()
}
