import type { AdminFeatures } from '../api/admin-features.ts'
import type { FeedbackAdminClient, FeedbackClient } from '../api/feedback.ts'
import type { KeysAdminClient, KeysClient } from '../api/keys.ts'
import type { NewcomersAdminClient, NewcomersClient } from '../api/newcomers.ts'
import type { UsageAdminClient, UsageClient } from '../api/usage.ts'
import type { UsersAdminClient, UsersClient } from '../api/users.ts'
import type { WebhooksAdminClient, WebhooksClient } from '../api/webhooks.ts'
import { ADMIN_OPERATIONS } from './admin-operations.ts'
import { createClient } from './create.ts'
import type { ChatClient, ClientOptions } from './types.ts'

export type * from '../api/admin-entities.ts'
export type * from '../api/client-entities.ts'
export { ChatError, type ErrorCode } from '../core/chat-error.ts'
export type {
  CallOptions,
  ChatClient,
  ClientOptions,
  FollowOptions,
  ReceivedEvent,
} from './types.ts'

/**
 * A {@link ChatClient} with every other endpoint of the service as well: users, limits, the audit log, tasks and nodes of
 * administrators, probes and metrics, and the OpenAI-compatible `/v1`.
 */
export interface AdminClient extends ChatClient, AdminFeatures {
  keys: KeysClient & KeysAdminClient
  users: UsersClient & UsersAdminClient
  newcomers: NewcomersClient & NewcomersAdminClient
  usage: UsageClient & UsageAdminClient
  webhooks: WebhooksClient & WebhooksAdminClient
  feedback: FeedbackClient & FeedbackAdminClient
}

/**
 * A client with all endpoints of the service, for scripts and for pages of administrators. It has everything that
 * `createChatClient` has, and shares its session.
 *
 * @throws TypeError without a `base_url`
 * @example
 * const admin = createAdminClient({ base_url: 'http://127.0.0.1:8080', api_key: process.env.CHAT_API_KEY })
 * const { users } = await admin.users.list({ limit: 50 })
 */
export function createAdminClient(options: ClientOptions): AdminClient {
  return createClient(options, ADMIN_OPERATIONS) as AdminClient
}
