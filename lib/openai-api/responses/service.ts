import { cancel as cancelAnswer } from '../../chat/answers/service.ts'
import { readRows } from '../../chat/answers/service-rows.ts'
import { get as getApproval } from '../../chat/approvals/service.ts'
import { decideEach } from '../../chat/approvals/service-each.ts'
import type { Opening } from '../../chat/events/service.ts'
import { get as getMessage } from '../../chat/messages/service.ts'
import { remove as removeMessage } from '../../chat/messages/service-changes.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { parseInput, useCase } from '../../core/use-case.ts'
import { askInChat } from '../../protocols/chats/asking.ts'
import { getChatFor } from '../../protocols/chats/finding.ts'
import { findNameOf } from '../../protocols/chats/store.ts'
import { openAnswer } from '../../protocols/rows/following.ts'
import { hasEnded, readSegments, segmentAfter, waitForEnd } from '../../protocols/rows/segments.ts'
import { askAtHome, askBelow } from '../asking.ts'
import type { SentQuestion } from '../completions/service.ts'
import { assistantOfModel } from '../models.ts'
import { invalid, servedFields, toQuestion } from '../rules-question.ts'
import { createResponseFrames } from './frames.ts'
import { toResponse } from './rules.ts'
import { CONVERSATION_START, fromOpenAiId } from './rules-ids.ts'
import { createItems, type FileUrl } from './rules-items.ts'
import { questionItem } from './rules-questions.ts'
import type { DeletedResponseObject, ItemList, ResponseObject } from './schema.ts'
import { type GivenItem, ResponseQuery, ResponseQuestion } from './schema-input.ts'

/** A response: a segment of an answer. */
interface Place {
  message_id: string
  segment: number
}

/**
 * Asks an assistant, or decides on its calls, and returns the response: once it has ended, at once with `background`, or as a stream.
 *
 * @throws ChatError `not_found` for an unknown model, response or conversation; `conflict`, `message_streaming`; as
 *   `messages.postRoot`, `messages.reply` and `approvals.decide`
 */
export async function createResponse(
  ctx: Context,
  actor: Actor,
  input: ResponseQuestion,
  signal?: AbortSignal,
): Promise<ResponseObject | Opening> {
  const { conversation, previous_response_id, stream, background } = input
  if (conversation && previous_response_id)
    throw invalid('previous_response_id', 'must be left out beside a conversation')
  const decisions = decisionsIn(input.input)
  const place = decisions ? await decide(ctx, actor, decisions, previous_response_id) : await askFor(ctx, actor, input)
  if (stream) return openResponse(ctx, actor, place)
  if (!background) await waitFor(ctx, actor, place, signal)
  return readResponse(ctx, actor, place)
}

/** A decision on a call. */
interface GivenDecision {
  approval_request_id: string
  approve: boolean
  reason?: string | null | undefined
}

/** The decisions of an input, which then has nothing else. @throws ChatError `validation_failed` */
function decisionsIn(input: string | GivenItem[]): GivenDecision[] | undefined {
  if (typeof input === 'string') return undefined
  const items = input.filter(({ type }) => type === 'mcp_approval_response')
  if (items.length === 0) return undefined
  if (input.some(isSaid)) throw invalid('input', 'must have decisions alone, or none')
  return items.map(({ approval_request_id, approve, reason }) => {
    if (approval_request_id === undefined || approve === undefined)
      throw invalid('input', 'must name for each decision approval_request_id and approve')
    return { approval_request_id, approve, reason }
  })
}

const isSaid = ({ type = 'message' }: GivenItem) => type === 'message'

async function decide(
  ctx: Context,
  actor: Actor,
  items: readonly GivenDecision[],
  previous: string | null | undefined,
): Promise<Place> {
  const decisions = items.map(({ approval_request_id, approve, reason }) => {
    const call = fromOpenAiId('approval', approval_request_id)
    if (!call) throw new ChatError('not_found')
    return { call_id: call.id, approve, ...(reason ? { reason } : {}) }
  })
  if (new Set(decisions.map(({ call_id }) => call_id)).size < decisions.length)
    throw invalid('input', 'must decide once on each call')
  const message_id = await answerOf(ctx, actor, decisions[0]!.call_id, previous)
  await decideEach.run(ctx, actor, message_id, { decisions })
  const answer = await readSegments(ctx, actor, message_id)
  return { message_id, segment: segmentAfter(answer, new Set(decisions.map(({ call_id }) => call_id))) }
}

/** The answer with a call: that of the response which the client names, else the call's. @throws ChatError `not_found`, `forbidden` */
async function answerOf(ctx: Context, actor: Actor, callId: string, previous: string | null | undefined) {
  return previous ? parseResponseId(previous).id : (await getApproval.run(ctx, actor, callId)).message_id
}

async function askFor(ctx: Context, actor: Actor, input: ResponseQuestion): Promise<Place> {
  const { conversation, previous_response_id, instructions, metadata, model, idempotency_key: key } = input
  const { content, context } = toQuestion(saidIn(input.input), {
    field: 'input',
    instructions,
    in_chat: Boolean(conversation),
  })
  const assistant = assistantOfModel(ctx, actor, model)
  const question = { content, context, assistant, metadata: metadata ?? undefined, key }
  if (conversation) {
    const name = typeof conversation === 'string' ? conversation : conversation.id
    await getChatFor(ctx, ctx.db, actor, name)
    const { message_id } = await askInChat(ctx, actor, { ...question, name, kind: 'ask', answer_ids: [] })
    return { message_id, segment: 1 }
  }
  const message_id = previous_response_id
    ? await askBelow(ctx, actor, await endedAnswer(ctx, actor, previous_response_id), question)
    : await askAtHome(ctx, actor, question)
  return { message_id, segment: 1 }
}

function saidIn(input: string | GivenItem[]) {
  if (typeof input === 'string') return [{ role: 'user' as const, content: input }]
  // Items of an earlier output, such as calls, are stored with their answer.
  return input.filter(isSaid).map(({ role, content }) => {
    if (role === undefined) throw invalid('input', 'must have a role for each message')
    return { role, content }
  })
}

/** The answer below which a question goes. @throws ChatError `not_found`; `message_streaming` while it is written */
async function endedAnswer(ctx: Context, actor: Actor, responseId: string): Promise<string> {
  const { id } = parseResponseId(responseId)
  const { message } = await readRows.run(ctx, actor, id, { from: 0, limit: 0 })
  if (isUnderWay(message)) throw new ChatError('message_streaming')
  return id
}

function parseResponseId(text: string): { id: string; segment: number } {
  const parsed = fromOpenAiId('response', text)
  const segment = parsed?.more === undefined ? 1 : Number(parsed.more)
  const isCanonical =
    parsed !== undefined && (parsed.more === undefined || (segment > 1 && String(segment) === parsed.more))
  if (!isCanonical) throw new ChatError('not_found')
  return { id: parsed.id, segment }
}

async function waitFor(ctx: Context, actor: Actor, { message_id, segment }: Place, signal: AbortSignal | undefined) {
  const answer = await readSegments(ctx, actor, message_id)
  if (hasEnded(answer, segment)) return
  const { after } = answer.segments[segment - 1]!
  await waitForEnd(ctx, actor, message_id, { protocol: 'openai_api', span: { after }, signal })
}

/** @throws ChatError `not_found` */
async function readResponse(ctx: Context, actor: Actor, { message_id, segment }: Place): Promise<ResponseObject> {
  const answer = await readSegments(ctx, actor, message_id)
  const { message, segments } = answer
  const own = segments[segment - 1]
  if (!own) throw new ChatError('not_found')
  const items = createItems(message_id, fileUrlOf(ctx))
  for (const step of own.steps) items.take(step)
  const isOver = hasEnded(answer, segment)
  if (isOver) items.close()
  const progress = !isOver ? 'under_way' : own.waiting.length > 0 ? 'waiting' : 'ended'
  const conversation = await conversationOf(ctx, message.root_id)
  return toResponse({ message, segment, conversation }, progress, items.list())
}

/** @throws ChatError `not_found`; `too_many_streams`; `unavailable` */
async function openResponse(
  ctx: Context,
  actor: Actor,
  { message_id, segment }: Place,
  starting_after?: number,
): Promise<Opening> {
  const { message, segments } = await readSegments(ctx, actor, message_id)
  const own = segments[segment - 1]
  if (!own) throw new ChatError('not_found')
  const answered = { segment, conversation: await conversationOf(ctx, message.root_id) }
  return openAnswer(ctx, actor, message_id, {
    protocol: 'openai_api',
    span: { after: own.after },
    frames: (written) => createResponseFrames(written, { answered, starting_after, toFileUrl: fileUrlOf(ctx) }),
  })
}

/** The first name of the thread that is that of a conversation of OpenAI: the same for every reader. */
const conversationOf = ({ db }: Context, rootId: string) => findNameOf(db, rootId, CONVERSATION_START)

/** The address of the content of a file. */
export const fileUrlOf =
  ({ config }: Context): FileUrl =>
  (id) =>
    `${config.server.public_url ?? ''}/api/attachments/${id}/content`

/** Asks an assistant, or decides on calls of its tools. @throws ChatError as {@link createResponse} */
export const create = useCase({
  takes: ['actor'],
  input: ResponseQuestion,
  errors: [
    'not_found',
    'forbidden',
    'conflict',
    'message_streaming',
    'message_deleted',
    'thread_too_deep',
    'idempotency_mismatch',
    'too_many_streams',
  ],
  run: (ctx, actor, input): Promise<ResponseObject | Opening> => createResponse(ctx, actor, input),
})

/**
 * A response as far as it has come; with `stream`, as a stream of its events.
 *
 * @throws ChatError `not_found`; `validation_failed` for `starting_after` without `stream`
 */
export const get = useCase({
  takes: ['actor', 'response_id'],
  input: ResponseQuery,
  errors: ['not_found', 'too_many_streams'],
  run: async (ctx, actor, responseId, { stream, starting_after }): Promise<ResponseObject | Opening> => {
    if (starting_after !== undefined && !stream) throw invalid('starting_after', 'must be left out without stream')
    const { id, segment } = parseResponseId(responseId)
    const place = { message_id: id, segment }
    return stream ? openResponse(ctx, actor, place, starting_after) : readResponse(ctx, actor, place)
  },
})

/** Stops an answer; one that has ended stays as it is. @throws ChatError `not_found`, `forbidden` */
export const cancel = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, responseId): Promise<ResponseObject> => {
    const { id, segment } = parseResponseId(responseId)
    await readResponse(ctx, actor, { message_id: id, segment })
    await cancelAnswer.run(ctx, actor, id)
    return readResponse(ctx, actor, { message_id: id, segment })
  },
})

/** Deletes an answer with its question. @throws ChatError `not_found`, `forbidden` */
export const remove = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found', 'forbidden'],
  frees: 'half',
  run: async (ctx, actor, responseId): Promise<DeletedResponseObject> => {
    const { id, segment } = parseResponseId(responseId)
    await readResponse(ctx, actor, { message_id: id, segment })
    await removeMessage.run(ctx, actor, id, {})
    return { id: responseId, object: 'response', deleted: true }
  },
})

/** The question of a response. @throws ChatError `not_found` */
export const listInput = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found'],
  run: async (ctx, actor, responseId): Promise<ItemList> => {
    const { id, segment } = parseResponseId(responseId)
    await readResponse(ctx, actor, { message_id: id, segment })
    const message = await getMessage.run(ctx, actor, id)
    const asked =
      message.prompt === undefined && message.parent_id ? await getMessage.run(ctx, actor, message.parent_id) : message
    return toList([questionItem(asked)])
  },
})

/** All items of a short list. */
const toList = (data: ItemList['data']): ItemList => ({
  object: 'list',
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: false,
})

/** Asks an assistant, or decides on calls, over HTTP. @throws ChatError as {@link create} */
export function ask(
  ctx: Context,
  actor: Actor,
  { body, key, signal }: SentQuestion,
): Promise<ResponseObject | Opening> {
  const input = parseInput(ResponseQuestion, { ...servedFields(body), idempotency_key: key ?? undefined })
  return createResponse(ctx, actor, input, signal)
}
