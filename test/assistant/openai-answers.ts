import { createOpenAi } from '../../lib/assistant/openai/provider.ts'
import { type Behaviour, startModelServer } from '../support/model-server.ts'
import { asking, collect } from './turns.ts'

/** Secrets, in spellings that JSON and a server may change. */
export const KEY = 'sk-hunter2/"x'
export const SECRET_HEADER = 'Bearer swordfish'

/** Parts of a streamed answer. */
export const MIDDLE = 'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'
export const END = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
export const DONE = 'data: [DONE]\n\n'

/** The responses of a server with this behaviour. */
export async function answerOf(behaviour: Behaviour) {
  const model = await startModelServer(behaviour)
  const headers: [string, string][] = [['X-Key', SECRET_HEADER]]
  return collect(
    createOpenAi({ base_url: model.url, model: 'tiny', api_key: KEY, headers, pauses_ms: [0, 0] })(asking('Hi')),
  )
}
