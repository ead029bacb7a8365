import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { parseInput, parseKnown } from '../../core/use-case.ts'
import { toResponse } from '../rows/responses.ts'
import { withoutHistory } from './rules-input.ts'
import { type UiChatInput, UiChatRequest, UiStreamRequest } from './schema.ts'
import { openResume, openSend } from './service.ts'

/** A question as a client of the AI SDK sends it, with what is in headers over HTTP. */
export interface UiQuestion extends UiChatInput {
  /** A question with this key is asked once. Default: the id that its client has given to the message. */
  idempotency_key?: string
  /** `5` for a client of version 5, which knows no approvals. */
  ui_version?: string
}

/** How a stream is read by a client of the AI SDK. */
export interface UiReading {
  /** `5` for a client of version 5, which knows no approvals. */
  ui_version?: string
}

/**
 * Asks in a chat, or decides on calls of tools, as a client of the AI SDK does. For routes of a host that the hook calls.
 *
 * @returns the answer in the AI SDK's UI message stream; one that is broken off fails
 * @throws ChatError as `POST /api/ui/chat`
 */
export async function send(ctx: Context, actor: Actor, input: UiQuestion): Promise<Response> {
  return toResponse(await openSend.run(ctx, actor, parseInput(UiChatRequest, withoutHistory(input))))
}

/**
 * The answer that is written in a chat, from its first row.
 *
 * @returns a response with the status 204 without one
 * @throws ChatError `too_many_streams`; `unavailable`
 */
export async function resume(ctx: Context, actor: Actor, id: string, options: UiReading = {}): Promise<Response> {
  const opening = await openResume.run(ctx, actor, id, parseKnown(UiStreamRequest, options))
  return opening ? toResponse(opening) : new Response(null, { status: 204 })
}
