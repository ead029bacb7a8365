import { readRows } from '../../chat/answers/service-rows.ts'
import { get as getApproval } from '../../chat/approvals/service.ts'
import { decideEach } from '../../chat/approvals/service-each.ts'
import { type Opening, type StreamPlace, withPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, invalid } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { askInChat } from '../../protocols/chats/asking.ts'
import { hasEnded, readSegments, segmentAfter, waitForEnd } from '../../protocols/rows/segments.ts'
import { askAtHome, askBelow } from '../asking.ts'
import { assistantOfModel } from '../models.ts'
import { getNamed } from '../naming.ts'
import { throwAfterAsking } from '../rules.ts'
import { toQuestion } from '../rules-question.ts'
import { openResponse, type Place, parseResponseId, readResponse } from './reading.ts'
import { fromOpenAiId } from './rules-ids.ts'
import type { ResponseObject } from './schema.ts'
import type { GivenItem, ResponseQuestion } from './schema-input.ts'

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
  if (conversation !== undefined && previous_response_id)
    throw invalid('previous_response_id', 'must be left out beside a conversation')
  const decisions = decisionsIn(input.input)
  const ask = () => (decisions ? decide(ctx, actor, decisions, previous_response_id) : askFor(ctx, actor, input))
  if (background && !stream) return readResponse(ctx, actor, await ask())
  return withPlace(ctx, actor, async (place) => {
    const at = await ask()
    return answerTo(ctx, actor, at, { stream, place, signal }).catch(throwAfterAsking)
  })
}

async function answerTo(
  ctx: Context,
  actor: Actor,
  at: Place,
  {
    stream,
    place,
    signal,
  }: { stream: boolean | null | undefined; place: StreamPlace; signal: AbortSignal | undefined },
): Promise<ResponseObject | Opening> {
  if (stream) return openResponse(ctx, actor, at, { place })
  await waitFor(ctx, actor, at, { place, signal })
  return readResponse(ctx, actor, at)
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
    in_chat: conversation !== undefined,
  })
  const assistant = assistantOfModel(ctx, actor, model)
  const question = { content, context, assistant, metadata: metadata ?? undefined, key }
  if (conversation !== undefined) {
    const { name } = await getNamed(
      ctx,
      ctx.db,
      actor,
      typeof conversation === 'string' ? conversation : conversation.id,
    )
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

async function waitFor(
  ctx: Context,
  actor: Actor,
  { message_id, segment }: Place,
  { place, signal }: { place: StreamPlace; signal: AbortSignal | undefined },
): Promise<void> {
  const answer = await readSegments(ctx, actor, message_id)
  if (hasEnded(answer, segment)) return place.release()
  const { after } = answer.segments[segment - 1]!
  await waitForEnd(ctx, actor, message_id, { protocol: 'openai_api', span: { after }, place, signal })
}
