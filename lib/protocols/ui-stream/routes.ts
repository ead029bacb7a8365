import { CancelledAnswer } from '../../chat/answers/schema.ts'
import type { Opening } from '../../chat/events/service.ts'
import { contextOf } from '../../core/context-of.ts'
import { type AnyUseCase, invoke } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { ChatName } from '../chats/schema.ts'
import { UiChatHeaders, UiChatInput, UiStopInput, UiVersionHeader } from './schema.ts'
import { UiFrame } from './schema-frames.ts'
import { UiChatHistory, UiChats, UiChatsQuery, UiHistoryQuery } from './schema-messages.ts'
import * as service from './service.ts'
import * as history from './service-history.ts'

const STREAMED = {
  'Cache-Control': 'always',
  'X-Accel-Buffering': 'always',
  'X-Vercel-AI-UI-Message-Stream': 'always',
} as const

const VERSION = (headers: Headers) => ({ ui_version: headers.get('x-ui-version') ?? undefined })

export const send = route({
  method: 'POST',
  path: '/api/ui/chat',
  tag: 'Compatibility',
  summary: 'Ask in a chat, as `useChat` of the AI SDK does, and stream the answer',
  description:
    "The answer in the AI SDK's UI message stream (5, 6 and 7). Only the last message is stored, below the last answer of the body that belongs to the chat and is not deleted; with `messageId`, and with `regenerate-message`, the answer is a variant. A message of the assistant with parts `approval-responded` decides on calls of tools, and streams what follows. Closing the connection stops nothing.",
  access: 'session',
  answer: 'frames',
  headers: UiChatHeaders,
  body: UiChatInput,
  example: { id: 'trip', messages: [{ id: 'q1', role: 'user', parts: [{ type: 'text', text: 'Does it run?' }] }] },
  response_headers: STREAMED,
  pieces: UiFrame,
  errors: service.openSend.errors,
  handler: ({ chat, actor, body, headers }) => {
    const idempotency_key = headers.get('idempotency-key') ?? undefined
    return open(chat, service.openSend, [actor], {
      ...service.withoutHistory(body),
      ...VERSION(headers),
      idempotency_key,
      host: headers.get('host') ?? undefined,
    })
  },
})

export const resume = route({
  method: 'GET',
  path: '/api/ui/chat/{chat_id}/stream',
  params: { chat_id: ChatName },
  tag: 'Compatibility',
  summary: 'Resume the answer that is written in a chat',
  description:
    'From its first row. 204 without one, while it waits for a decision, and for a chat that the caller does not know.',
  access: 'session',
  answer: 'frames',
  headers: UiVersionHeader,
  status_if_empty: 204,
  response_headers: {
    'Cache-Control': 'always',
    'X-Accel-Buffering': 'maybe',
    'X-Vercel-AI-UI-Message-Stream': 'maybe',
  },
  pieces: UiFrame,
  errors: service.openResume.errors,
  handler: ({ chat, actor, params, headers }) =>
    open(chat, service.openResume, [actor, params.chat_id], VERSION(headers)),
})

export const get = route({
  method: 'GET',
  path: '/api/ui/chat/{chat_id}',
  params: { chat_id: ChatName },
  tag: 'Compatibility',
  summary: 'Read the messages of a chat as the AI SDK has them',
  description:
    'The branch down to `leaf`, or to the newest answer, without deleted messages and the answer that is written now, which is `activeStreamId`. A question in an answer is a message of its own, with the id `<id>:prompt`. Continue with `before`.',
  access: 'session',
  output: UiChatHistory,
  query: UiHistoryQuery,
  run: history.get,
})

export const list = route({
  method: 'GET',
  path: '/api/ui/chats',
  tag: 'Compatibility',
  summary: 'List the chats that you have named, latest activity first',
  description: 'In conversations in which you participate. The last 10,000 names that you have used are kept.',
  access: 'session',
  output: UiChats,
  query: UiChatsQuery,
  run: history.list,
})

export const stop = route({
  method: 'POST',
  path: '/api/ui/chat/{chat_id}/stop',
  params: { chat_id: ChatName },
  tag: 'Compatibility',
  summary: 'Stop the answer that is written in a chat; the text so far is kept',
  description:
    '204 when none runs or waits, or another one than `activeStreamId`, and for a chat that the caller does not know.',
  access: 'session',
  status: 202,
  status_if_empty: 204,
  body: UiStopInput,
  body_optional: true,
  output: CancelledAnswer,
  run: service.stop,
})

export const stream = route({
  method: 'GET',
  path: '/api/messages/{message_id}/ui-stream',
  tag: 'Compatibility',
  summary: "Stream an answer in the AI SDK's UI message stream",
  description:
    'Any answer, or text that a bot streams: an ended one at once. 404 for a message that was posted as a whole, and unless `features.ui_stream`.',
  access: 'session',
  answer: 'frames',
  headers: UiVersionHeader,
  response_headers: STREAMED,
  pieces: UiFrame,
  errors: service.openMessage.errors,
  handler: ({ chat, actor, params, headers }) =>
    open(chat, service.openMessage, [actor, params.message_id], VERSION(headers)),
})

/** Calls a use-case that opens a stream. As of every call over HTTP, unknown fields are ignored. */
function open(chat: object, useCase: AnyUseCase, scope: unknown[], input: object): Promise<Opening | undefined> {
  return invoke(contextOf(chat), useCase, scope, input) as Promise<Opening | undefined>
}
