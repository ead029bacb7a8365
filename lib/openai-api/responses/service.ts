import { cancel as cancelAnswer } from '../../chat/answers/service.ts'
import type { Opening } from '../../chat/events/service.ts'
import { get as getMessage } from '../../chat/messages/service.ts'
import { remove as removeMessage } from '../../chat/messages/service-changes.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { invalid } from '../../core/errors.ts'
import { parseInput, useCase } from '../../core/use-case.ts'
import type { SentQuestion } from '../asking.ts'
import { servedFields } from '../rules-question.ts'
import { createResponse } from './asking.ts'
import { beginOf, openResponse, parseResponseId, readResponse } from './reading.ts'
import { questionItem } from './rules-questions.ts'
import type { DeletedResponseObject, ItemList, ResponseObject } from './schema.ts'
import { ResponseQuery, ResponseQuestion } from './schema-input.ts'

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
    return stream ? openResponse(ctx, actor, place, { starting_after }) : readResponse(ctx, actor, place)
  },
})

/** Stops an answer; one that has ended stays as it is. @throws ChatError `not_found`, `forbidden` */
export const cancel = useCase({
  takes: ['actor', 'response_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, responseId): Promise<ResponseObject> => {
    const { id, segment } = parseResponseId(responseId)
    await beginOf(ctx, actor, { message_id: id, segment })
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
    await beginOf(ctx, actor, { message_id: id, segment })
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
    await beginOf(ctx, actor, { message_id: id, segment })
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
