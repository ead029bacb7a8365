import { createClient } from './create.ts'
import type { ChatClient, ClientOptions } from './types.ts'

export type * from '../api/client-entities.ts'
export { ChatError, type ErrorCode } from '../core/chat-error.ts'
export { type CommandProblem, type NamedUser, type ParsedCommand, parseCommand } from './parse-command.ts'
export { partsOf } from './parts-of.ts'
export { type ClientMessageStream, type StreamMessageInput, streamMessage } from './stream-message.ts'
export type {
  CallOptions,
  ChatClient,
  ClientOptions,
  FollowOptions,
  ReceivedEvent,
  UploadOptions,
  UploadProgress,
} from './types.ts'

/**
 * A client of a service, for browsers and Node, with every endpoint that a page of users needs. It stores the session:
 * the CSRF token, and the cookies unless the runtime does. Nothing is sent before the first call.
 *
 * The endpoints of administrators are in `createAdminClient` of `chat-server/client/admin`.
 *
 * @throws TypeError without a `base_url`
 * @example
 * const client = createChatClient({ base_url: 'https://example.org/chat' })
 * await client.auth.login({ email: 'ada@example.org', password: 'correct horse battery' })
 * const { conversations } = await client.conversations.list()
 */
export function createChatClient(options: ClientOptions): ChatClient {
  return createClient(options)
}
