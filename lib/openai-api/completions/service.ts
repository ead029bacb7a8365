import { cancel as cancelAnswer } from '../../chat/answers/service.ts'
import { readRows } from '../../chat/answers/service-rows.ts'
import { type Opening, type StreamPlace, withPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { invoke, parseInput, useCase } from '../../core/use-case.ts'
import { askInChat } from '../../protocols/chats/asking.ts'
import { openAnswer } from '../../protocols/rows/following.ts'
import { readSegments, waitForEnd } from '../../protocols/rows/segments.ts'
import { askAtHome, type SentQuestion } from '../asking.ts'
import { assistantOfModel } from '../models.ts'
import { getNamed } from '../naming.ts'
import { fromOpenAiId } from '../responses/rules-ids.ts'
import { throwAfterAsking } from '../rules.ts'
import { servedFields, toQuestion } from '../rules-question.ts'
import type { Completion, CompletionChunk } from '../schema.ts'
import { complete as echo } from '../service.ts'
import { createCompletionFrames, failureOf, toCompletion } from './rules.ts'
import { AssistantCompletionInput } from './schema.ts'

/**
 * Asks an assistant, and returns its answer once it has ended, or as a stream. A client that leaves before stops the answer: its
 * protocol has no other way.
 *
 * @throws ChatError `not_found` for an unknown model or conversation; `conflict` for an answer that failed; as
 *   `messages.postRoot` and `messages.reply`
 */
export async function createCompletion(
  ctx: Context,
  actor: Actor,
  input: AssistantCompletionInput,
  signal?: AbortSignal,
): Promise<Completion | Opening> {
  return withPlace(ctx, actor, async (place) => {
    const id = await askFor(ctx, actor, input)
    return answerTo(ctx, actor, id, { input, place, signal }).catch((error: unknown) => {
      // Its client gets no answer any more.
      stop(ctx, actor, id)
      return throwAfterAsking(error)
    })
  })
}

async function answerTo(
  ctx: Context,
  actor: Actor,
  id: string,
  { input, place, signal }: { input: AssistantCompletionInput; place: StreamPlace; signal: AbortSignal | undefined },
): Promise<Completion | Opening> {
  if (input.stream)
    return openCompletion(ctx, actor, id, { place, withUsage: input.stream_options?.include_usage === true })
  const { message } = await readRows.run(ctx, actor, id, { from: 0, limit: 0 })
  if (message.status === 'streaming') await waitForEnd(ctx, actor, id, { protocol: 'openai_api', place, signal })
  else place.release()
  return readCompletion(ctx, actor, id)
}

async function askFor(ctx: Context, actor: Actor, input: AssistantCompletionInput): Promise<string> {
  const { conversation: named, ...metadata } = input.metadata ?? {}
  const name = typeof named === 'string' ? named : undefined
  const said = input.messages.flatMap(({ role, content }) =>
    role === 'tool' || role === 'function' ? [] : { role, content: content as string },
  )
  const { content, context } = toQuestion(said, { field: 'messages', in_chat: name !== undefined })
  const question = {
    content,
    context,
    assistant: assistantOfModel(ctx, actor, input.model),
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    key: input.idempotency_key,
  }
  if (name === undefined) return askAtHome(ctx, actor, question)
  const chat = await getNamed(ctx, ctx.db, actor, name)
  const { message_id } = await askInChat(ctx, actor, { ...question, name: chat.name, kind: 'ask', answer_ids: [] })
  return message_id
}

async function openCompletion(
  ctx: Context,
  actor: Actor,
  id: string,
  { place, withUsage }: { place: StreamPlace; withUsage: boolean },
): Promise<Opening> {
  const opening = await openAnswer(ctx, actor, id, {
    protocol: 'openai_api',
    place,
    frames: (message) => createCompletionFrames(message, withUsage),
  })
  return {
    ...opening,
    cancel() {
      opening.cancel()
      stop(ctx, actor, id)
    },
    connect(sink) {
      let isOver = false
      const over = (then: (() => void) | undefined) => () => {
        isOver = true
        then?.()
      }
      const leave = opening.connect({ ...sink, end: over(sink.end), abort: over(sink.abort ?? sink.end) })
      return () => {
        // Leaving ends the sink, too.
        const hasLeft = !isOver
        leave()
        if (hasLeft) stop(ctx, actor, id)
      }
    },
  }
}

function stop(ctx: Context, actor: Actor, id: string): void {
  cancelAnswer.run(ctx, actor, id).catch((error: unknown) => {
    ctx.log.warn('The answer to a client that has left was not stopped', { cause: causeText(error) })
  })
}

async function readCompletion(ctx: Context, actor: Actor, id: string): Promise<Completion> {
  const { message, segments } = await readSegments(ctx, actor, id)
  if (message.status === 'streaming') throw new ChatError('message_streaming')
  const failure = failureOf(message)
  // The SDKs would ask again after a 5xx.
  if (failure !== undefined) throw new ChatError('conflict', { message: failure })
  const steps = segments.flatMap((segment) => segment.steps)
  return toCompletion(message, steps.map((step) => (step.type === 'text' ? step.text : '')).join(''))
}

/** Asks an assistant. @throws ChatError as {@link createCompletion} */
export const create = useCase({
  takes: ['actor'],
  input: AssistantCompletionInput,
  errors: [
    'not_found',
    'forbidden',
    'conflict',
    'message_streaming',
    'thread_too_deep',
    'idempotency_mismatch',
    'too_many_streams',
  ],
  run: (ctx, actor, input): Promise<Completion | Opening> => createCompletion(ctx, actor, input),
})

/** An answer as a completion. @throws ChatError `not_found`; `message_streaming` for one that is written; `conflict` for one that failed */
export const get = useCase({
  takes: ['actor', 'completion_id'],
  errors: ['not_found', 'conflict', 'message_streaming'],
  run: async (ctx, actor, completionId): Promise<Completion> => {
    const parsed = fromOpenAiId('completion', completionId)
    if (!parsed || parsed.more !== undefined) throw new ChatError('not_found')
    return readCompletion(ctx, actor, parsed.id)
  },
})

/** Asks an assistant over HTTP; without an actor the echo answers. @throws ChatError as {@link create} */
export async function ask(
  ctx: Context,
  actor: Actor | undefined,
  { body, key, signal }: SentQuestion,
): Promise<Completion | Opening | Iterable<CompletionChunk>> {
  if (!actor) return (await invoke(ctx, echo, [], body)) as Completion | Iterable<CompletionChunk>
  const input = parseInput(AssistantCompletionInput, { ...servedFields(body), idempotency_key: key ?? undefined })
  return createCompletion(ctx, actor, input, signal)
}
