import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { parseKnown } from '../../core/use-case.ts'
import { toResponse } from '../../protocols/rows/responses.ts'
import type { ResponseObject } from './schema.ts'
import { ResponseQuery, ResponseQuestion } from './schema-input.ts'
import { openCreate, openGet } from './service-streams.ts'

/** How a response is read. */
export interface ResponseReading {
  /** Whether to stream the events. */
  stream?: boolean
  /** The `sequence_number` of the last event that the client has. */
  starting_after?: number
}

/**
 * Asks an assistant, or decides on calls of its tools, as a client of OpenAI does.
 *
 * @returns the response once it has ended, at once with `background`; with `stream` a response with its events, which fails when
 *   it is broken off
 * @throws ChatError as `POST /v1/responses`
 */
export async function create(ctx: Context, actor: Actor, input: ResponseQuestion): Promise<ResponseObject | Response> {
  const made = await openCreate.run(ctx, actor, parseKnown(ResponseQuestion, input))
  return 'connect' in made ? toResponse(made) : made
}

/**
 * A response as far as it has come; with `stream`, a response with its events.
 *
 * @throws ChatError `not_found`; `validation_failed` for `starting_after` without `stream`; `too_many_streams`; `unavailable`
 */
export async function get(
  ctx: Context,
  actor: Actor,
  responseId: string,
  options: ResponseReading = {},
): Promise<ResponseObject | Response> {
  const read = await openGet.run(ctx, actor, responseId, parseKnown(ResponseQuery, options))
  return 'connect' in read ? toResponse(read) : read
}
