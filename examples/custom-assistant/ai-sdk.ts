// An assistant that calls a model through the AI SDK.
//
//   npx tsx examples/custom-assistant/ai-sdk.ts                      a pretended model, without a key
//   AI_GATEWAY_API_KEY=… npx tsx examples/custom-assistant/ai-sdk.ts openai/gpt-5-mini
import { type LanguageModel, type LanguageModelUsage, streamText } from 'ai'
import { type Assistant, createChatService, openStorage, parseConfig } from 'chat-server'
import { converse } from './converse.ts'
import { createPretendedModel } from './pretended-model.ts'

/** @param model from any provider of the AI SDK: `createAiSdk(anthropic('…'))` with `@ai-sdk/anthropic` */
export function createAiSdk(model: LanguageModel): Assistant {
  return async function* ({ turns, signal }) {
    const { fullStream } = streamText({
      model,
      messages: turns.map(({ role, content }) => ({ role, content })),
      // Only the system prompt of the configuration has this role: users cannot post it.
      allowSystemInMessages: true,
      abortSignal: signal,
      // Errors are parts of the stream, too. Without this they would also be printed.
      onError() {},
    })
    for await (const part of fullStream) {
      if (part.type === 'text-delta') yield part.text
      if (part.type === 'error') throw part.error
      if (part.type === 'finish') yield { finish_reason: part.finishReason, usage: toUsage(part.totalUsage) }
    }
  }
}

function toUsage({ inputTokens, outputTokens, totalTokens }: LanguageModelUsage) {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens }
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
