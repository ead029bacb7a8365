// An assistant that calls a model through the AI SDK.
//
//   npx tsx examples/custom-assistant/ai-sdk.ts                      a pretended model, without a key
//   AI_GATEWAY_API_KEY=… npx tsx examples/custom-assistant/ai-sdk.ts openai/gpt-5-mini
import {
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  stepCountIs,
  streamText,
  type TextStreamPart,
  type ToolSet,
  tool,
} from 'ai'
import {
  type AnswerPiece,
  type Assistant,
  createChatService,
  type OfferedTool,
  openStorage,
  parseConfig,
} from 'chat-server'
import { toMessages } from './ai-sdk-messages.ts'
import { converse } from './converse.ts'
import { createPretendedModel } from './pretended-model.ts'

/**
 * @param model from any provider of the AI SDK: `createAiSdk(anthropic('…'))` with `@ai-sdk/anthropic`
 * @param own tools that the AI SDK runs, without approval; those of the service come with each request
 */
export function createAiSdk(model: LanguageModel, own: ToolSet = {}): Assistant {
  return async function* (request) {
    const tools = { ...own, ...toTools(request.tools) }
    const { fullStream } = streamText({
      model,
      messages: toMessages(request),
      ...(Object.keys(tools).length > 0 && { tools, stopWhen: stepCountIs(8) }),
      // Only the system prompt of the configuration has this role: users cannot post it.
      allowSystemInMessages: true,
      abortSignal: request.signal,
      // Errors are parts of the stream, too. Without this they would also be printed.
      onError() {},
    })
    for await (const part of fullStream) {
      if (part.type === 'error') throw part.error
      yield* toPieces(part, (name) => request.tools.some((each) => each.name === name))
    }
  }
}

/** Tools without a function: the AI SDK ends its answer with their calls, and the service runs them. */
function toTools(offered: OfferedTool[]): ToolSet {
  const tools = offered.map(({ name, description, schema }) => {
    return [name, tool({ description, inputSchema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]) })] as const
  })
  return Object.fromEntries(tools)
}

/** What the service stores of a part of the stream. @param isOffered whether the service runs a tool of this name */
function toPieces(part: TextStreamPart<ToolSet>, isOffered: (name: string) => boolean): AnswerPiece[] {
  switch (part.type) {
    case 'text-delta':
      return [part.text]
    case 'reasoning-delta':
      return [{ reasoning: part.text }]
    case 'reasoning-end':
      // A signature, which some models want back with their calls.
      return part.providerMetadata ? [{ reasoning: '', provider_data: part.providerMetadata }] : []
    case 'tool-call': {
      const { toolCallId: id, toolName: name, input, providerMetadata: provider_data } = part
      // The AI SDK itself answers a call that it cannot read.
      const isOurs = isOffered(name) && !part.providerExecuted && !part.invalid
      return [{ ...(isOurs ? { tool_call: { id, name, input } } : { tool: { id, name, input } }), provider_data }]
    }
    case 'tool-result':
      if (part.preliminary) return []
      return [{ tool: { id: part.toolCallId, name: part.toolName, output: part.output ?? null } }]
    case 'tool-error':
      // Its text is for the model: readers would get what may be secret.
      return [{ tool: { id: part.toolCallId, name: part.toolName, error: 'The tool has failed.' } }]
    case 'source': {
      const { title } = part
      if (part.sourceType === 'url') return /^https?:/.test(part.url) ? [{ source: { url: part.url, title } }] : []
      return [{ source: { filename: part.filename ?? part.title, media_type: part.mediaType, title } }]
    }
    case 'file':
      return [{ file: { name: `file.${part.file.mediaType.split('/')[1] ?? 'bin'}`, bytes: part.file.uint8Array } }]
    case 'finish':
      return [{ finish_reason: part.finishReason, usage: toUsage(part.totalUsage) }]
    default:
      return []
  }
}

function toUsage({ inputTokens, outputTokens, totalTokens, ...details }: LanguageModelUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    cached_tokens: details.inputTokenDetails.cacheReadTokens,
    reasoning_tokens: details.outputTokenDetails.reasoningTokens,
  }
}

// Not when this file is imported.
if (process.argv[1] === import.meta.filename) {
  const assistant = createAiSdk(process.argv[2] ?? createPretendedModel('I pretend that engines weave.'))
  const storage = await openStorage({ database: 'sqlite::memory:' })
  const chat = createChatService(parseConfig(), storage, { assistant })
  await chat.start()
  await converse(chat, 'What do engines weave?')
  await chat.close()
}
