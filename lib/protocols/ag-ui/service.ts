import type { CancelledAnswer } from '../../chat/answers/schema.ts'
import { readRows } from '../../chat/answers/service-rows.ts'
import { type Opening, withPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { useCase } from '../../core/use-case.ts'
import { STREAMED_ASKING } from '../chats/asking.ts'
import { stopInChat } from '../chats/stopping.ts'
import { askOrDecide } from './asking.ts'
import { connectTo } from './connecting.ts'
import { openEvents } from './frames.ts'
import { toOpenInterrupts, toRunStarted } from './rules.ts'
import { readKnown } from './rules-input.ts'
import { findAnswerOf } from './run-ids.ts'
import { AgUiRunInput, AgUiRunRequest, AgUiStopInput } from './schema.ts'
import { streamRun, toRun } from './streaming.ts'

export { withoutHistory } from './rules-input.ts'

/**
 * Asks in a chat, or decides on calls of tools, as a client of AG-UI does, and streams the answer. A run that leaves interrupts open
 * is refused by an event, as its protocol demands.
 *
 * @throws ChatError as `messages.postRoot`, `messages.reply` and `approvals.decide`; `validation_failed` without a question;
 *   `message_streaming` while an answer to the actor is written in the chat; `too_many_streams`; `unavailable`
 */
export const openStart = useCase({
  takes: ['actor'],
  input: AgUiRunRequest,
  errors: STREAMED_ASKING,
  run: (ctx, actor, request): Promise<Opening> =>
    withPlace(ctx, actor, async (place) => {
      const answer = await askOrDecide(ctx, actor, request)
      const { message_id } = answer
      if ('is_open' in answer) {
        place.release()
        return refuse(ctx, actor, message_id, request)
      }
      const { question_ids, question_id } = readKnown(request)
      if (question_id !== undefined && !request.resume?.length) question_ids.set(message_id, question_id)
      const run = toRun(request)
      return streamRun(ctx, actor, message_id, { ...answer, name: request.threadId, run, question_ids, place })
    }),
})

async function refuse(ctx: Context, actor: Actor, messageId: string, request: AgUiRunRequest): Promise<Opening> {
  const { message } = await readRows.run(ctx, actor, messageId, { from: 0, limit: 0 })
  return openEvents([toRunStarted(toRun(request), message), toOpenInterrupts()])
}

/**
 * The messages of a chat, and the answer that is written there, from its first row; without one the end of the newest answer.
 *
 * @throws ChatError `not_found` for a chat that is deleted; `too_many_streams`; `unavailable`
 */
export const openConnect = useCase({
  takes: ['actor'],
  input: AgUiRunInput,
  errors: ['validation_failed', 'not_found', 'too_many_streams', 'unavailable'],
  run: (ctx, actor, input): Promise<Opening> => connectTo(ctx, actor, input),
})

/**
 * Stops the answer that runs or waits in a chat: that of the run which is named, else the newest one of the actor, else the newest
 * one. The text so far is kept.
 *
 * @returns `undefined` without one, and for a chat that the actor does not know
 * @throws ChatError `forbidden` as `answers.cancel`
 */
export const stop = useCase({
  takes: ['actor'],
  input: AgUiStopInput,
  errors: ['forbidden'],
  run: async (ctx, actor, { threadId: name, runId }): Promise<CancelledAnswer | undefined> => {
    const run_id = runId ?? undefined
    const named = run_id === undefined ? undefined : await findAnswerOf(ctx, actor, { name, run_id })
    if (run_id !== undefined && named === undefined) return undefined
    return stopInChat(ctx, actor, { name, message_id: named })
  },
})
