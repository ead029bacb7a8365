import type { Usage } from '../../chat/answers/schema.ts'
import { FAILURES } from '../../chat/answers/schema-failures.ts'
import type { Written } from '../../chat/answers/service-rows.ts'
import { formatEvent } from '../../core/sse-format.ts'
import { SECOND } from '../../core/units.ts'
import type { AnswerFrames } from '../../protocols/rows/framing.ts'
import { DEFAULT_MODEL } from '../responses/rules.ts'
import { toOpenAiId } from '../responses/rules-ids.ts'
import type { Completion, CompletionChunk, CompletionUsage } from '../schema.ts'

/** The reasons that OpenAI's clients know. */
type FinishReason = Completion['choices'][number]['finish_reason']

const headOf = ({ id, created_at, assistant }: Written) => ({
  id: toOpenAiId('completion', id),
  created: Math.floor(created_at / SECOND),
  model: assistant ?? DEFAULT_MODEL,
})

/** An answer as a completion. */
export function toCompletion(message: Written, content: string): Completion {
  return {
    ...headOf(message),
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reasonOf(message) }],
    usage: toUsage(message.usage),
  }
}

/** An answer that was stopped has `stop`: no reason of this protocol is that, and after `length` clients ask for the rest by themselves. */
function reasonOf({ finish_reason }: Written): FinishReason {
  return finish_reason === 'length' || finish_reason === 'content_filter' ? finish_reason : 'stop'
}

function toUsage({ prompt_tokens = 0, completion_tokens = 0, total_tokens }: Usage = {}): CompletionUsage {
  return { prompt_tokens, completion_tokens, total_tokens: total_tokens ?? prompt_tokens + completion_tokens }
}

/** Why an answer has no end that clients take; `undefined` for one that has. */
export function failureOf({ status, failure }: Written): string | undefined {
  if (status === 'interrupted') return 'The answer was interrupted.'
  return status === 'failed' ? FAILURES[failure ?? 'provider_error'] : undefined
}

/** Writes the text of an answer as the chunks of a completion. Calls of tools have no place in them. */
export function createCompletionFrames(message: Written, withUsage: boolean): AnswerFrames {
  const head = headOf(message)
  const write = (choices: CompletionChunk['choices'], usage: CompletionUsage | null = null): string => {
    const chunk: CompletionChunk = {
      ...head,
      object: 'chat.completion.chunk',
      choices,
      ...(withUsage && { usage }),
    }
    return formatEvent({ data: JSON.stringify(chunk) })
  }

  function finish(ended: Written): string {
    const failure = failureOf(ended)
    if (failure !== undefined) {
      const error = { message: failure, type: 'server_error', param: null, code: ended.failure ?? ended.status }
      return formatEvent({ data: JSON.stringify({ error }) })
    }
    const last = write([{ index: 0, delta: {}, finish_reason: reasonOf(ended) }])
    return `${last}${withUsage ? write([], toUsage(ended.usage)) : ''}${formatEvent({ data: '[DONE]' })}`
  }

  return {
    begin: () => write([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    row: (step) =>
      step.type === 'text' ? write([{ index: 0, delta: { content: step.text }, finish_reason: null }]) : '',
    // No client of this protocol decides: it gets the text so far.
    wait: () => finish(message),
    end: finish,
  }
}
