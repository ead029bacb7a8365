import type { Opening } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { invalid } from '../../core/errors.ts'
import { parseInput, useCase } from '../../core/use-case.ts'
import type { SentQuestion } from '../asking.ts'
import { servedFields } from '../rules-question.ts'
import { createResponse } from './asking.ts'
import { openResponse, parseResponseId, readResponse } from './reading.ts'
import type { ResponseObject } from './schema.ts'
import { ResponseQuery, ResponseQuestion } from './schema-input.ts'

/** Asks an assistant, or decides on calls of its tools. @throws ChatError as {@link createResponse} */
export const openCreate = useCase({
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
export const openGet = useCase({
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

/** Asks an assistant, or decides on calls, over HTTP. @throws ChatError as {@link openCreate} */
export function ask(
  ctx: Context,
  actor: Actor,
  { body, key, signal }: SentQuestion,
): Promise<ResponseObject | Opening> {
  const input = parseInput(ResponseQuestion, { ...servedFields(body), idempotency_key: key ?? undefined })
  return createResponse(ctx, actor, input, signal)
}
