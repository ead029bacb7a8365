import { CancelledAnswer } from '../../chat/answers/schema.ts'
import type { Opening } from '../../chat/events/service.ts'
import { contextOf } from '../../core/context-of.ts'
import { type AnyUseCase, invoke } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { AgUiRunHeaders, AgUiRunInput, AgUiStopInput } from './schema.ts'
import { AgUiCapabilities } from './schema-capabilities.ts'
import { AgUiEvent } from './schema-events.ts'
import * as service from './service.ts'
import { getCapabilities } from './service-capabilities.ts'

const COMMON = { tag: 'Compatibility', access: 'session' } as const

const EXAMPLE = { threadId: 'trip', runId: 'r1', messages: [{ id: 'q1', role: 'user', content: 'Does it run?' }] }

const EVENTS = {
  ...COMMON,
  method: 'POST',
  answer: 'frames',
  response_headers: { 'Cache-Control': 'always', 'X-Accel-Buffering': 'always' },
  pieces: AgUiEvent,
  body: AgUiRunInput,
} as const

export const start = route({
  ...EVENTS,
  example: EXAMPLE,
  path: '/api/ag-ui',
  summary: 'Ask in a chat, as a client of AG-UI does, and stream the answer',
  description:
    'The events of AG-UI 1.0. The last message of the user is the question, and is stored below the last answer of the body before it that belongs to the chat; where that place has an answer to the same question, the new one is a variant. With `resume` it decides on the calls that wait, and streams what follows. While calls wait, another run is refused by `RUN_ERROR` `conflict`. Closing the connection stops nothing.',
  headers: AgUiRunHeaders,
  errors: service.openStart.errors,
  handler: ({ chat, actor, body, headers }) => {
    const idempotency_key = headers.get('idempotency-key') ?? undefined
    const host = headers.get('host') ?? undefined
    return open(chat, service.openStart, actor, { ...service.withoutHistory(body), idempotency_key, host })
  },
})

export const connect = route({
  ...EVENTS,
  example: EXAMPLE,
  path: '/api/ag-ui/connect',
  summary: 'Read a chat, and resume the answer that is written in it, as a client of AG-UI does',
  description:
    '`MESSAGES_SNAPSHOT`, then the answer that is written there from its first row; without one the end of the newest answer: `interrupt` while it waits, `success` if there is none.',
  errors: service.openConnect.errors,
  handler: ({ chat, actor, body }) => open(chat, service.openConnect, actor, service.withoutHistory(body)),
})

export const stop = route({
  ...COMMON,
  method: 'POST',
  path: '/api/ag-ui/stop',
  summary: 'Stop the answer that is written in a chat of a client of AG-UI; the text so far is kept',
  description:
    '204 when none runs or waits, or another one than that of `runId`, and for a chat that the caller does not know.',
  status: 202,
  status_if_empty: 204,
  body: AgUiStopInput,
  example: { threadId: 'trip' },
  output: CancelledAnswer,
  run: service.stop,
})

export const capabilities = route({
  ...COMMON,
  method: 'GET',
  path: '/api/ag-ui/capabilities',
  summary: 'Read what the assistants can do, as AG-UI declares it',
  description: 'Of the assistants that the caller may ask.',
  output: AgUiCapabilities,
  run: getCapabilities,
})

/** Calls a use-case that opens a stream. As of every call over HTTP, unknown fields are ignored. */
function open(chat: object, useCase: AnyUseCase, actor: unknown, input: object): Promise<Opening> {
  return invoke(contextOf(chat), useCase, [actor], input) as Promise<Opening>
}
