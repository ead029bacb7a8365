import type { LanguageModel } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'

/** A model of the AI SDK that needs no key: it answers `text` to every prompt, word by word. */
export function createPretendedModel(text: string): LanguageModel {
  const words = text.match(/\S+\s*/g) ?? []
  const tokens = { total: words.length, text: words.length }
  return new MockLanguageModelV3({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunkDelayInMs: 50,
        chunks: [
          { type: 'text-start', id: 'answer' },
          ...words.map((delta) => ({ type: 'text-delta' as const, id: 'answer', delta })),
          { type: 'text-end', id: 'answer' },
          {
            type: 'finish',
            finishReason: { unified: 'stop', raw: undefined },
            usage: {
              inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { ...tokens, reasoning: 0 },
            },
          },
        ],
      }),
    }),
  })
}
