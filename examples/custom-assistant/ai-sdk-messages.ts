import type { ModelMessage } from 'ai'
import type { AssistantRequest, GivenPart } from 'chat-server'

type Content = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>
type Results = Extract<ModelMessage, { role: 'tool' }>['content']
type Call = Extract<GivenPart, { type: 'tool' }>
type Output = Extract<Results[number], { type: 'tool-result' }>['output']

/** The messages of the thread, and behind the question what the answer has so far. */
export function toMessages({ turns, so_far }: AssistantRequest): ModelMessage[] {
  return [
    ...turns.flatMap(({ role, content, parts }): ModelMessage[] => {
      // What a model thought is of use to it only while it answers.
      return parts ? answerMessages(parts.filter(({ type }) => type !== 'reasoning')) : [{ role, content }]
    }),
    ...answerMessages(so_far),
  ]
}

/** Texts and calls are messages of the assistant; the results of its calls follow them. */
function answerMessages(parts: readonly GivenPart[]): ModelMessage[] {
  const messages: ModelMessage[] = []
  let content: Content = []
  let results: Results = []
  function end() {
    if (content.length > 0) messages.push({ role: 'assistant', content })
    if (results.length > 0) messages.push({ role: 'tool', content: results })
    content = []
    results = []
  }
  for (const part of parts) {
    // What follows results is another message.
    if (part.type !== 'tool' && results.length > 0) end()
    const kept = part.provider_data ? { providerOptions: part.provider_data as Record<string, never> } : {}
    if (part.type === 'text') content.push({ type: 'text', text: part.text, ...kept })
    if (part.type === 'reasoning') content.push({ type: 'reasoning', text: part.text ?? '', ...kept })
    if (part.type !== 'tool') continue
    const call = { toolCallId: part.provider_id ?? part.call_id, toolName: part.name }
    content.push({ type: 'tool-call', ...call, input: part.input ?? {}, ...kept })
    results.push({ type: 'tool-result', ...call, output: toOutput(part) })
  }
  end()
  return messages
}

/** Each call has an output, or an error with a text for the model. */
function toOutput({ output, error }: Call): Output {
  if (error) return { type: 'error-text', value: error.message }
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output as never }
}
