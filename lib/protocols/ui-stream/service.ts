import type { CancelledAnswer } from '../../chat/answers/schema.ts'
import { type Opening, type StreamPlace, withPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, unlessUnknown } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { isId } from '../../core/schema.ts'
import { useCase } from '../../core/use-case.ts'
import { askInChat, STREAMED_ASKING } from '../chats/asking.ts'
import { fileAddressesOf } from '../chats/file-addresses.ts'
import { assertInChat } from '../chats/finding.ts'
import { isChatName } from '../chats/rules.ts'
import { stopInChat } from '../chats/stopping.ts'
import { findRunning } from '../chats/store-place.ts'
import { type DecidedAnswer, decideAndFollow } from '../rows/deciding.ts'
import { openAnswer } from '../rows/following.ts'
import { urlsOf } from '../rows/urls.ts'
import { createUiFrames } from './rules.ts'
import { readWish } from './rules-input.ts'
import { UiChatRequest, UiStopInput, UiStreamRequest } from './schema.ts'

export { withoutHistory } from './rules-input.ts'

/**
 * Asks in a chat, or decides on calls of tools, as a client of the AI SDK does, and streams the answer.
 *
 * @throws ChatError as `messages.postRoot`, `messages.reply` and `approvals.decide`; `validation_failed` without a question;
 *   `message_streaming` while an answer to the actor runs or waits in the chat; `too_many_streams`; `unavailable`
 */
export const openSend = useCase({
  takes: ['actor'],
  input: UiChatRequest,
  errors: STREAMED_ASKING,
  run: async (ctx, actor, request): Promise<Opening> => {
    const wish = readWish(request, fileAddressesOf(ctx.config, request.host))
    return withPlace(ctx, actor, async (place) => {
      const asked = await askFor(ctx, actor, request, wish)
      return stream(ctx, actor, asked.message_id, { ...asked, ui_version: request.ui_version, place })
    })
  },
})

/** Asks, or decides. @returns the answer, and what of it follows */
async function askFor(
  ctx: Context,
  actor: Actor,
  { id: name, conversation_id, assistant, idempotency_key }: UiChatRequest,
  wish: ReturnType<typeof readWish>,
): Promise<DecidedAnswer | { message_id: string }> {
  if (wish.kind === 'decide') {
    const { message_id, decisions } = wish
    await assertInChat(ctx, actor, name, message_id)
    return decideAndFollow(ctx, actor, message_id, { decisions })
  }
  const { new_id, ...question } = wish
  const key = idempotency_key ?? (new_id ? keyOf(name, new_id) : undefined)
  return askInChat(ctx, actor, { ...question, name, conversation_id, assistant, key })
}

/** A question is known by the id that its client has given to it. */
const keyOf = (name: string, messageId: string) => `ui:${digest(JSON.stringify([name, messageId]))}`

/**
 * The stream of the answer that is written in a chat, from its first row: that of the actor before those of others. `undefined`
 * without one, while it waits, and for a chat that the actor does not know.
 *
 * @throws ChatError `too_many_streams`; `unavailable`
 */
export const openResume = useCase({
  takes: ['actor', 'chat_id'],
  input: UiStreamRequest,
  errors: ['validation_failed', 'too_many_streams', 'unavailable'],
  run: async (ctx, actor, name, { ui_version }): Promise<Opening | undefined> => {
    const { user_id } = actor
    const running = isChatName(name) ? await findRunning(ctx.db, { user_id, name }, { waiting: false }) : undefined
    if (!running) return undefined
    return stream(ctx, actor, running.message_id, { ui_version }).catch(unlessUnknown)
  },
})

/**
 * The stream of any answer, or of a text that a bot streams or has streamed.
 *
 * @throws ChatError `not_found`, also where `features.ui_stream` is off; `too_many_streams`; `unavailable`
 */
export const openMessage = useCase({
  takes: ['actor', 'message_id'],
  input: UiStreamRequest,
  errors: ['validation_failed', 'not_found', 'too_many_streams', 'unavailable'],
  run: async (ctx, actor, messageId, { ui_version }): Promise<Opening> => {
    if (!ctx.config.features.ui_stream) throw new ChatError('not_found')
    return stream(ctx, actor, messageId, { ui_version })
  },
})

/**
 * Stops the answer that runs or waits in a chat: the one that is named, else the newest one of the actor, else the newest one. The
 * text so far is kept.
 *
 * @returns `undefined` without one, and for a chat that the actor does not know
 * @throws ChatError `forbidden` as `answers.cancel`
 */
export const stop = useCase({
  takes: ['actor', 'chat_id'],
  input: UiStopInput,
  errors: ['forbidden'],
  run: async (ctx, actor, name, { activeStreamId }): Promise<CancelledAnswer | undefined> => {
    if (!isChatName(name) || (activeStreamId !== undefined && !isId(activeStreamId))) return undefined
    return stopInChat(ctx, actor, { name, message_id: activeStreamId })
  },
})

const HEADERS = [['x-vercel-ai-ui-message-stream', 'v1']] as const

/** What of an answer is streamed, and to which client. */
interface UiStreamed extends Partial<Omit<DecidedAnswer, 'message_id'>> {
  ui_version: string | undefined
  place?: StreamPlace
}

function stream(
  ctx: Context,
  actor: Actor,
  messageId: string,
  { span = 'all', rows, ui_version, place }: UiStreamed,
): Promise<Opening> {
  const options = { is_old: ui_version === '5', is_continued: span !== 'all', urlOf: urlsOf(ctx.config) }
  return openAnswer(ctx, actor, messageId, {
    protocol: 'ui_stream',
    headers: HEADERS,
    span,
    place,
    rows,
    shared_as: options.is_old ? 'ui 5' : 'ui',
    frames: (message) => createUiFrames(message, options),
  })
}
