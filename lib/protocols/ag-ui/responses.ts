import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { parseInput } from '../../core/use-case.ts'
import { toResponse } from '../rows/responses.ts'
import { withoutHistory } from './rules-input.ts'
import { AgUiRunInput, AgUiRunRequest } from './schema.ts'
import { openConnect, openStart } from './service.ts'

/** A run as a client of AG-UI asks for it, with what is in headers over HTTP. */
export interface RunInput extends AgUiRunInput {
  /** A question with this key is asked once. Default: `runId`. */
  idempotency_key?: string
}

/**
 * Asks in a chat, or decides on calls of tools, as a client of AG-UI does. For routes of a host that the client calls.
 *
 * @returns the events of the run; a stream that is broken off fails
 * @throws ChatError as `POST /api/ag-ui`
 */
export async function start(ctx: Context, actor: Actor, input: RunInput): Promise<Response> {
  return toResponse(await openStart.run(ctx, actor, parseInput(AgUiRunRequest, withoutHistory(input))))
}

/**
 * The messages of a chat, and the answer that is written there, from its first row; without one the end of the newest answer.
 *
 * @throws ChatError `not_found` for a chat that is deleted; `too_many_streams`; `unavailable`
 */
export async function connect(ctx: Context, actor: Actor, input: AgUiRunInput): Promise<Response> {
  return toResponse(await openConnect.run(ctx, actor, parseInput(AgUiRunInput, withoutHistory(input))))
}
