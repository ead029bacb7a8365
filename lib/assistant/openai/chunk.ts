import * as v from 'valibot'
import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { Usage } from '../../chat/answers/schema.ts'
import type { CallFragment } from './calls.ts'
import { failureIn } from './failures.ts'
import { parseJson } from './json.ts'

/** What one event of a streamed answer, or a response that is not streamed, contains. */
export interface Chunk {
  delta?: string
  reasoning?: string
  fragments?: CallFragment[]
  usage?: Usage
  finish_reason?: string
}

/** A keyword of the protocol. It is logged, so free text of the server does not match. */
const FinishReason = v.pipe(v.string(), v.regex(/^[\w-]{0,64}$/))

const Text = v.nullish(v.string())

const CalledFunction = v.nullish(v.object({ name: Text, arguments: v.unknown() }))

const Fragment = v.object({
  index: v.fallback(v.nullish(v.number()), undefined),
  id: v.fallback(Text, undefined),
  function: CalledFunction,
})

const Said = v.nullish(
  v.object({
    content: Text,
    // Two names of the same: vLLM and OpenRouter, DeepSeek and llama.cpp.
    reasoning: v.fallback(Text, undefined),
    reasoning_content: v.fallback(Text, undefined),
    tool_calls: v.nullish(v.array(Fragment)),
    // Older servers know one call only.
    function_call: CalledFunction,
  }),
)

const Count = v.fallback(v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))), undefined)

/** How a server counts: parts of the prompt and of the answer are in objects of their own. */
const ServerUsage = v.object({
  ...Usage.entries,
  prompt_tokens_details: v.fallback(v.nullish(v.object({ cached_tokens: Count })), undefined),
  completion_tokens_details: v.fallback(v.nullish(v.object({ reasoning_tokens: Count })), undefined),
})

/** Servers leave out fields without a value, or send null. */
const Event = v.pipe(
  v.object({
    choices: v.nullish(v.array(v.object({ delta: Said, message: Said, finish_reason: v.nullish(FinishReason) }))),
    usage: v.fallback(v.nullish(ServerUsage), undefined),
  }),
  v.check(({ choices, usage }) => Boolean(choices ?? usage)),
)

/**
 * The chunk of an answer in `text`, a `chat.completion.chunk` or a whole `chat.completion`: often empty.
 *
 * @param summary makes a loggable summary of a text
 * @throws AnswerFailure `provider_error` when the server reports an error, `invalid_answer` for anything else
 */
export function parseChunk(text: string, summary: (said: string) => string): Chunk {
  const json = parseJson(text)
  if (hasError(json)) throw failureIn(text, summary(text))
  const event = v.safeParse(Event, json)
  if (!event.success) throw new AnswerFailure('invalid_answer', summary(text))
  const { choices, usage } = event.output
  const { delta, message, finish_reason } = choices?.[0] ?? {}
  const { content, reasoning, reasoning_content, tool_calls, function_call } = delta ?? message ?? {}
  const fragments = tool_calls?.length ? tool_calls : function_call ? [{ function: function_call }] : []
  const thought = reasoning || reasoning_content
  return {
    ...(content && { delta: content }),
    ...(thought && { reasoning: thought }),
    ...(fragments.length > 0 && { fragments }),
    ...(usage && { usage: toUsage(usage) }),
    ...(finish_reason && { finish_reason }),
  }
}

function toUsage({
  prompt_tokens_details,
  completion_tokens_details,
  ...usage
}: v.InferOutput<typeof ServerUsage>): Usage {
  const { cached_tokens } = prompt_tokens_details ?? {}
  const { reasoning_tokens } = completion_tokens_details ?? {}
  return {
    ...usage,
    ...(cached_tokens !== undefined && { cached_tokens }),
    ...(reasoning_tokens !== undefined && { reasoning_tokens }),
  }
}

function hasError(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'error' in json && Boolean(json.error)
}
