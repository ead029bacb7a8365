import { IdempotencyHeader } from '../../chat/messages/schema.ts'
import { contextOf } from '../../core/context-of.ts'
import { route } from '../../endpoint.ts'
import { OpenAiId } from '../schema-ids.ts'
import { DeletedResponseObject, ItemList, ResponseObject } from './schema.ts'
import { ResponseEvent } from './schema-events.ts'
import { ResponseInput } from './schema-input.ts'
import * as service from './service.ts'
import * as streams from './service-streams.ts'

const COMMON = { tag: 'Compatibility', access: 'session', by_token: true, is_protocol: true } as const
const ONE = { ...COMMON, params: { response_id: OpenAiId } } as const

export const create = route({
  ...COMMON,
  method: 'POST',
  path: '/v1/responses',
  summary: 'Ask an assistant, as OpenAI’s Responses',
  description:
    'Waits for the end of the response; with `stream: true` it is streamed, with `background: true` returned at once. It goes on when the client leaves. With `conversation` the question is below the newest answer of that, with `previous_response_id` below that answer, else in the conversation *API* of the caller. A call of a tool on which participants decide ends a response; `mcp_approval_response` decides, and its response is what follows. `features.openai_api` offers it.',
  headers: IdempotencyHeader,
  body: ResponseInput,
  example: { input: 'Why is the sky blue?' },
  output: ResponseObject,
  pieces: ResponseEvent,
  errors: streams.openCreate.errors,
  waits: true,
  response_headers: { 'X-Accel-Buffering': 'maybe' },
  handler: ({ chat, actor, body, headers, gone }) =>
    streams.ask(contextOf(chat), actor, { body, key: headers.get('idempotency-key'), signal: gone() }),
})

export const get = route({
  ...ONE,
  method: 'GET',
  path: '/v1/responses/{response_id}',
  summary: 'Read a response, or stream it',
  description:
    'As far as it has come. With `stream=true` its events from the first one on, or those after `starting_after`: each event has the same number in every stream.',
  output: ResponseObject,
  pieces: ResponseEvent,
  response_headers: { 'X-Accel-Buffering': 'maybe' },
  run: streams.openGet,
})

export const cancel = route({
  ...ONE,
  method: 'POST',
  path: '/v1/responses/{response_id}/cancel',
  summary: 'Stop a response; the text so far is kept',
  description: 'A response that has ended stays as it is.',
  output: ResponseObject,
  run: service.cancel,
})

export const remove = route({
  ...ONE,
  method: 'DELETE',
  path: '/v1/responses/{response_id}',
  summary: 'Delete a response with its question',
  description: 'As the message that it is: its replies stay.',
  output: DeletedResponseObject,
  run: service.remove,
})

export const listInput = route({
  ...ONE,
  method: 'GET',
  path: '/v1/responses/{response_id}/input_items',
  summary: 'Read the question of a response',
  description: 'One item.',
  output: ItemList,
  run: service.listInput,
})
