import { readRows } from '../../chat/answers/service-rows.ts'
import type { Opening, StreamPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { findNameOf } from '../../protocols/chats/store.ts'
import { openAnswer } from '../../protocols/rows/following.ts'
import { hasEnded, readSegments } from '../../protocols/rows/segments.ts'
import { urlsOf } from '../../protocols/rows/urls.ts'
import { createResponseFrames } from './frames.ts'
import { toResponse } from './rules.ts'
import { fromOpenAiId, NAME_START, toGivenName } from './rules-ids.ts'
import { createItems } from './rules-items.ts'
import type { ResponseObject } from './schema.ts'

/** A response: a segment of an answer. */
export interface Place {
  message_id: string
  segment: number
}

export function parseResponseId(text: string): { id: string; segment: number } {
  const parsed = fromOpenAiId('response', text)
  const segment = parsed?.more === undefined ? 1 : Number(parsed.more)
  const isCanonical =
    parsed !== undefined && (parsed.more === undefined || (segment > 1 && String(segment) === parsed.more))
  if (!isCanonical) throw new ChatError('not_found')
  return { id: parsed.id, segment }
}

/** @throws ChatError `not_found` */
export async function readResponse(
  ctx: Context,
  actor: Actor,
  { message_id, segment }: Place,
): Promise<ResponseObject> {
  const answer = await readSegments(ctx, actor, message_id)
  const { message, segments } = answer
  const own = segments[segment - 1]
  if (!own) throw new ChatError('not_found')
  const items = createItems(message_id, urlsOf(ctx.config))
  for (const step of own.steps) items.take(step)
  const isOver = hasEnded(answer, segment)
  if (isOver) items.close()
  const progress = !isOver ? 'under_way' : own.waiting.length > 0 ? 'waiting' : 'ended'
  const conversation = await conversationOf(ctx, message.root_id)
  return toResponse({ message, segment, conversation }, progress, items.list())
}

/** @throws ChatError `not_found`; `too_many_streams`; `unavailable` */
export async function openResponse(
  ctx: Context,
  actor: Actor,
  { message_id, segment }: Place,
  { starting_after, place }: { starting_after?: number | undefined; place?: StreamPlace },
): Promise<Opening> {
  const { message, after } = await beginOf(ctx, actor, { message_id, segment })
  const answered = { segment, conversation: await conversationOf(ctx, message.root_id) }
  return openAnswer(ctx, actor, message_id, {
    protocol: 'openai_api',
    span: { after },
    place,
    shared_as: `response ${starting_after ?? -1}`,
    frames: (written) => createResponseFrames(written, { answered, starting_after, toFileUrl: urlsOf(ctx.config) }),
  })
}

/** The answer, and the number of the row behind which a segment begins: of the first one no row is read. @throws ChatError `not_found` */
export async function beginOf(ctx: Context, actor: Actor, { message_id, segment }: Place) {
  if (segment === 1) return { ...(await readRows.run(ctx, actor, message_id, { from: 0, limit: 0 })), after: -1 }
  const { message, segments } = await readSegments(ctx, actor, message_id)
  const own = segments[segment - 1]
  if (!own) throw new ChatError('not_found')
  return { message, after: own.after }
}

/** The first name of the thread that is that of a conversation of OpenAI: the same for every reader. */
const conversationOf = async ({ db }: Context, rootId: string) => toGivenName(await findNameOf(db, rootId, NAME_START))
