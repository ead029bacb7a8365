import { HEADER_FIELDS } from '../core/headers.ts'
import { readPieces } from './event-stream.ts'
import { repeated } from './failure.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { assertCallable, pathOf } from './path.ts'
import { createRequester, type Requester } from './request.ts'
import { followStream } from './stream.ts'
import type { ChatClient, ClientOptions } from './types.ts'

export type { Message } from '../chat/messages/schema.ts'
export { ChatError, type ErrorCode } from '../core/errors.ts'
export type {
  ChatClient,
  ClientOptions,
  ConversationStreamEvent,
  FollowOptions,
  ReceivedEvent,
} from './types.ts'

/** What a call carries. */
interface Input {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, string>
}

/** A client of a service, for browsers and Node. It keeps the session: cookies where the runtime does not, and the CSRF token. */
export function createChatClient(options: ClientOptions): ChatClient {
  const requester = createRequester(options)
  const { retry_ms } = options
  const methods = Object.entries<Operation>(OPERATIONS)
    .filter(([, operation]) => operation.answer !== 'stream')
    .map(([name, operation]) => [name, (input?: Input) => call(requester, operation, input)])
  return {
    ...Object.fromEntries(methods),
    follow: (conversation_id, options) =>
      followStream(requester, pathOf(OPERATIONS.streamConversation.path, { conversation_id }, {}), {
        ...options,
        retry_ms,
      }),
    followAll: (options) => followStream(requester, OPERATIONS.streamAll.path, { ...options, retry_ms }),
  } as ChatClient
}

async function call(requester: Requester, operation: Operation, input: Input = {}): Promise<unknown> {
  assertCallable(operation, input)
  const { method, answer } = operation
  const encode = operation.takes_rest ? encodeURI : encodeURIComponent
  const path = pathOf(operation.path, input.params ?? {}, input.query ?? {}, encode)
  const body = operation.body && (input.body ?? (operation.body === 'optional' ? undefined : {}))
  const accept = answer === 'redirect' && { accept: 'application/json' }
  const attempt = () => requester.request(method, path, { body, headers: { ...accept, ...input.headers } })
  const response = await (operation.is_read ? repeated(attempt) : attempt())
  if (operation.ends_session && response.status === 204) requester.setCsrfToken(undefined)
  if (response.status === 204) return undefined
  if (answer === 'text') return response.text()
  if (response.headers.get('content-type') === 'text/event-stream') return readPieces(response.body!)
  const value = (await response.json()) as { csrf_token?: string }
  if (answer === 'session' && value.csrf_token) requester.setCsrfToken(value.csrf_token)
  const fields = Object.entries(HEADER_FIELDS).flatMap(([field, header]) => {
    const value = response.headers.get(header)
    return value === null ? [] : [[field, value]]
  })
  return fields.length > 0 ? { ...value, ...Object.fromEntries(fields) } : value
}
