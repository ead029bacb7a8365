import { route } from '../http/route.ts'
import { Completion, CompletionChunk, Models, NewCompletion } from './schema.ts'

export const listModels = route({
  method: 'GET',
  path: '/v1/models',
  tag: 'Compatibility',
  summary: 'List the models, as OpenAI does',
  access: 'public',
  output: Models,
  handler: ({ chat }) => chat.compat.models(),
})

export const createChatCompletion = route({
  method: 'POST',
  path: '/v1/chat/completions',
  tag: 'Compatibility',
  summary: 'Echo messages, as a chat completion of OpenAI',
  access: 'public',
  changes: false,
  body: NewCompletion,
  output: Completion,
  pieces: CompletionChunk,
  handler: ({ chat, body }) => chat.compat.complete(body),
})
