import { RESULT_HEADERS } from '../core/headers.ts'
import { isEventStream } from '../core/sse-format.ts'
import { repeated } from './errors.ts'
import type { Operation, Trait } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { refuseUnknown } from './options.ts'
import { toCall, toPath } from './path.ts'
import { createRequester, type Requester } from './request.ts'
import { requesters } from './requester-of.ts'
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

type Uploaded = Parameters<ChatClient['upload']>

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
      const path = pathOf(OPERATIONS.events.stream)
      const { ids } = toCall('events.follow', path, false, [conversation_id])
      yield* follow('client.events.follow', toPath(path, ids), options)
    },
    followAll: (options) => follow('client.events.followAll', pathOf(OPERATIONS.events.streamAll), options),
  }
  const client = {
    ...Object.fromEntries(features),
    events,
    // Loaded by pages that upload.
    upload: async (...args: Uploaded) => (await import('./upload.ts')).upload({ client, requester, retry_ms }, ...args),
  }
  requesters.set(client, requester)
  return client
}

const pathOf = (operation: Operation) => operation.split(' ')[1]!

async function call(requester: Requester, name: string, operation: Operation, args: unknown[]): Promise<unknown> {
  const [method = '', template = '', ...traits] = operation.split(' ')
  const has = (trait: Trait) => traits.includes(trait)
  const { ids, input, options } = toCall(name, template, has('query') || has('body') || has('bytes'), args)
  const path = toPath(template, ids, has('query') ? input : {}, has('rest') ? encodeURI : encodeURIComponent)
  const body = has('body') ? (input ?? (has('optional') ? undefined : {})) : undefined
  const accept = has('redirect') && { accept: 'application/json' }
  const bytes = has('bytes') && { bytes: input as unknown as Blob }
  const init = { ...options, body, ...bytes, headers: { ...accept, ...options.headers } }
  const attempt = () => requester.request(method, path, init)
  const isRead = has('read') || (method === 'GET' && !has('redirect'))
  const response = await (isRead ? repeated(attempt) : attempt())
  if (has('ends_session') && response.status === 204) requester.setCsrfToken(undefined)
  if (response.status === 204) return undefined
  if (has('text')) return response.text()
  // Loaded by programs that use the endpoints of OpenAI.
  if (isEventStream(response)) return (await import('./compat.ts')).readPieces(response.body!)
  const value = (await response.json()) as { csrf_token?: string } & Record<string, unknown>
  if (has('session') && value.csrf_token) requester.setCsrfToken(value.csrf_token)
  for (const [header, field] of Object.entries(RESULT_HEADERS))
    if (response.headers.has(header)) value[field] = response.headers.get(header)
  return value
}
