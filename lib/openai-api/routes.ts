import { route } from '../endpoint.ts'
import { Completion, CompletionChunk, Models } from './schema.ts'
import * as service from './service.ts'

export const listModels = route({
  method: 'GET',
  path: '/v1/models',
  tag: 'Compatibility',
  summary: "List the models in OpenAI's format",
  description:
    "Two models with the same behaviour, in OpenAI's format. `features.openai_compat = false` removes all of `/v1`.",
  access: 'public',
  output: Models,
  run: service.listModels,
})

export const complete = route({
  method: 'POST',
  path: '/v1/chat/completions',
  tag: 'Compatibility',
  summary: 'Echo messages as an OpenAI chat completion',
  description:
    'Returns one choice for each message, which repeats it. With `stream: true` the same arrives in chunks, with `[DONE]` at the end.',
  access: 'public',
  changes: false,
  example: { model: 'gpt-4', messages: [{ role: 'user', content: 'Hello there' }] },
  response_headers: { 'X-Accel-Buffering': 'maybe' },
  output: Completion,
  pieces: CompletionChunk,
  run: service.complete,
})
