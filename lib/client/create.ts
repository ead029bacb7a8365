import { RESULT_HEADERS } from '../core/headers.ts'
import { isEventStream } from '../core/sse-format.ts'
import { repeated } from './errors.ts'
import { readPieces } from './event-stream.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { refuseUnknown } from './options.ts'
import { toCall, toPath } from './path.ts'
import { createRequester, type Requester } from './request.ts'
import { followStream } from './stream.ts'
import { createTransport } from './transport.ts'
import {
  type ChatClient,
  CLIENT_OPTIONS,
  type ClientOptions,
  FOLLOW_OPTIONS,
  type FollowOptions,
  type ReceivedEvent,
} from './types.ts'

/** Operations, by their feature and verb. */
export type Operations = Record<string, Record<string, Operation>>

/** A client with the operations of pages, and with these. */
export function createClient(options: ClientOptions, more: Operations = {}): ChatClient {
  // A misspelt option is named before the one that is missing.
  if (typeof options === 'object' && options) refuseUnknown('createChatClient', options, CLIENT_OPTIONS)
  const requester = createRequester(options)
  const { retry_ms } = options
  const transport = createTransport(requester, options.transport)
  const all: Operations = OPERATIONS
  const features = Object.keys({ ...all, ...more }).map((feature) => [
    feature,
    Object.fromEntries(
      Object.entries({ ...all[feature], ...more[feature] }).map(([verb, operation]) => [
        verb,
        (...args: unknown[]) => call(requester, `${feature}.${verb}`, operation, args),
      ]),
    ),
  ])
  async function* follow(name: string, path: string, options: FollowOptions = {}): AsyncGenerator<ReceivedEvent> {
    refuseUnknown(name, options, FOLLOW_OPTIONS)
    yield* followStream(transport, path, { ...options, retry_ms })
  }
  const events: ChatClient['events'] = {
    async *follow(conversation_id, options) {
      const { path } = OPERATIONS.events.stream
      const { ids } = toCall('events.follow', { method: 'GET', path }, [conversation_id])
      yield* follow('client.events.follow', toPath(path, ids), options)
    },
    followAll: (options) => follow('client.events.followAll', OPERATIONS.events.streamAll.path, options),
  }
  const client = { ...Object.fromEntries(features), events }
  return {
    ...client,
    // Loaded by pages that upload.
    upload: async (...args) => (await import('./upload.ts')).upload({ client, requester, retry_ms }, ...args),
  }
}

async function call(requester: Requester, name: string, operation: Operation, args: unknown[]): Promise<unknown> {
  const { ids, input, options } = toCall(name, operation, args)
  const { method, answer } = operation
  const encode = operation.takes_rest ? encodeURI : encodeURIComponent
  const path = toPath(operation.path, ids, operation.input === 'query' ? input : {}, encode)
  const body = operation.input === 'body' ? (input ?? (operation.is_optional ? undefined : {})) : undefined
  const accept = answer === 'redirect' && { accept: 'application/json' }
  const bytes = operation.input === 'bytes' && { bytes: input as unknown as Blob }
  const init = { ...options, body, ...bytes, headers: { ...accept, ...options.headers } }
  const attempt = () => requester.request(method, path, init)
  const isRead = operation.is_read || (method === 'GET' && answer !== 'redirect')
  const response = await (isRead ? repeated(attempt) : attempt())
  if (operation.ends_session && response.status === 204) requester.setCsrfToken(undefined)
  if (response.status === 204) return undefined
  if (answer === 'text') return response.text()
  if (isEventStream(response)) return readPieces(response.body!)
  const value = (await response.json()) as { csrf_token?: string }
  if (answer === 'session' && value.csrf_token) requester.setCsrfToken(value.csrf_token)
  const fields = Object.entries(RESULT_HEADERS).flatMap(([header, field]) => {
    const value = response.headers.get(header)
    return value === null ? [] : [[field, value]]
  })
  return fields.length > 0 ? { ...value, ...Object.fromEntries(fields) } : value
}
