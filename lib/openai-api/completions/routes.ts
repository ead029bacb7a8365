import type { Config } from '../../config/parse.ts'
import { contextOf } from '../../core/context-of.ts'
import { route } from '../../endpoint.ts'
import { Completion, CompletionChunk, CompletionInput } from '../schema.ts'
import { OpenAiId } from '../schema-ids.ts'
import * as service from './service.ts'

/** The caller is known by a credential of this service; without one, and while the assistants are not offered, the echo answers. */
const COMMON = {
  tag: 'Compatibility',
  access: 'optional',
  by_token: true,
  looks_at_caller: ({ features }: Config) => features.openai_api,
} as const

export const complete = route({
  ...COMMON,
  method: 'POST',
  path: '/v1/chat/completions',
  needs_scope: 'write',
  summary: 'Ask an assistant, or the echo, as an OpenAI chat completion',
  description:
    'Without a credential it returns one choice for each message, which repeats it. With one, and `features.openai_api`, the assistant of the name `model`, which then may be left out, answers the last messages of the user, in the conversation that `metadata.conversation` names or in *API*; a client that leaves stops it, and an `Idempotency-Key` asks once. With `stream: true` the same arrives in chunks, with `[DONE]` at the end.',
  changes: false,
  body: CompletionInput,
  example: { model: 'gpt-4', messages: [{ role: 'user', content: 'Hello there' }] },
  response_headers: { 'X-Accel-Buffering': 'maybe' },
  output: Completion,
  pieces: CompletionChunk,
  errors: service.create.errors,
  waits: true,
  handler: ({ chat, actor, body, headers, gone }) =>
    service.ask(contextOf(chat), actor, { body, key: headers.get('idempotency-key'), signal: gone() }),
})

export const getCompletion = route({
  ...COMMON,
  access: 'session',
  method: 'GET',
  path: '/v1/chat/completions/{completion_id}',
  params: { completion_id: OpenAiId },
  is_protocol: true,
  summary: 'Read an answer as an OpenAI chat completion',
  description: 'Its text alone. `features.openai_api` offers it.',
  output: Completion,
  run: service.get,
})
