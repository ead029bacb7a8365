import * as v from 'valibot'
import { cancel } from '../../chat/answers/service.ts'
import * as assistants from '../../chat/assistants/service.ts'
import { MentionsInput } from '../../chat/mentions/schema.ts'
import { type Message, PostInput } from '../../chat/messages/schema.ts'
import { wait } from '../../chat/waiting/answer.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { bind } from '../../core/use-case.ts'
import { declares } from '../extensions.ts'
import { TASKS } from '../protocol.ts'
import { toAnswer } from './results.ts'
import { IdText, idOf } from './shapes.ts'
import { type ToolCall, tool } from './tool.ts'
import { isWriter, PLACE, POST, post, routeOfPost } from './writing.ts'

const MAX_SECONDS = 55

/** How long to wait for the end of an answer. */
const secondsOf = (fallback: number) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(MAX_SECONDS),
      v.description('How long to wait for its end'),
    ),
    fallback,
  )

/** An answer, in a result. */
const ShownAnswer = v.object({
  message_id: IdText,
  root_id: IdText,
  conversation_id: IdText,
  status: v.pipe(v.string(), v.description('`streaming` and `waiting` (for an approval): not yet at its end')),
  content: v.string(),
  parts: v.optional(v.array(v.object({ id: v.number(), type: v.string() }))),
  finish_reason: v.optional(v.string()),
  failure: v.optional(v.string()),
  cut: v.optional(v.number()),
})

export const get_answer = tool({
  title: 'Get an answer',
  description: 'Returns an answer of the assistant as it is, and waits for its end if "seconds" is set.',
  scope: 'chat:read',
  effect: 'reads',
  route: () => ({ method: 'GET', path: '/api/messages/{message_id}' }),
  args: v.object({ message_id: idOf('The answer'), seconds: secondsOf(0) }),
  output: ShownAnswer,
  waits: ({ seconds }) => seconds > 0,
  run: async (call, { message_id, seconds }) => toAnswer(call.ctx, await awaitAnswer(call, message_id, seconds)),
})

export const ask_assistant = tool({
  title: 'Ask the assistant',
  description:
    'Posts a question to the assistant as the user, and waits for the answer, which other people see too. If it has not ended by then, call get_answer with its message_id: the answer goes on, also when the call is broken off; only stop_answer stops it.',
  scope: 'chat:ask',
  effect: 'adds',
  route: routeOfPost,
  args: v.object({
    ...PLACE,
    content: v.pipe(v.unwrap(PostInput.entries.content), v.description('The question')),
    ...POST,
    mentions: v.optional(MentionsInput),
    assistant: v.optional(v.pipe(v.unwrap(PostInput.entries.assistant), v.description('Its key, as in results'))),
    variant_of: v.optional(idOf('An answer: the new one is another answer to its question')),
    seconds: secondsOf(20),
  }),
  output: ShownAnswer,
  isOffered: async (ctx, actor) =>
    isWriter(ctx, actor) && (await bind(ctx, assistants.list)(actor, {})).assistants.length > 0,
  waits: ({ seconds }) => seconds > 0,
  async run(call, { conversation_id, parent_id, seconds, ...input }) {
    const question = { ...input, role: 'assistant' as const }
    const { message_id } = await post(call.ctx, call.actor, { conversation_id, parent_id }, question)
    const message = await awaitAnswer(call, message_id, seconds)
    const becomesTask = isUnderWay(message) && declares(call.revision, TASKS)
    return { ...toAnswer(call.ctx, message), ...(becomesTask && { task: message }) }
  },
})

export const stop_answer = tool({
  title: 'Stop an answer',
  description: 'Stops an answer of the assistant; the text so far stays. One that has ended stays as it is.',
  scope: 'chat:ask',
  effect: 'sets',
  route: () => ({ method: 'POST', path: '/api/messages/{message_id}/cancel' }),
  args: v.object({ message_id: idOf('The answer') }),
  output: v.object({ message_id: IdText, status: v.string() }),
  isOffered: isWriter,
  async run({ ctx, actor }, { message_id }) {
    return { value: await bind(ctx, cancel)(actor, message_id) }
  },
})

/** An answer as it is after some seconds, or at its end. */
function awaitAnswer({ ctx, actor, stream, signal }: ToolCall, messageId: string, seconds: number): Promise<Message> {
  const { beat: onHeartbeat, progress: onProgress } = stream
  return wait(ctx, actor, messageId, { seconds, signal, onHeartbeat, onProgress })
}
