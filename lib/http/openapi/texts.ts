import type { Params } from '../../endpoint.ts'
import type { Tag } from '../../endpoint-kinds.ts'
import type { endpoints } from '../../endpoints.ts'

type Features = typeof endpoints
type Path = { [F in keyof Features]: Features[F][keyof Features[F]] }[keyof Features] extends infer R
  ? R extends { path: infer P }
    ? P
    : never
  : never
type ParamName = Path extends infer P extends string ? keyof Params<P> : never

/** The description of each path parameter. */
export const PARAMETERS: Record<ParamName, string> = {
  conversation_id: 'The conversation',
  root_id: 'The thread, which goes by the id of its root',
  parent_id: 'The message that is replied to',
  message_id: 'The message',
  emoji: 'One emoji of at most 64 bytes of UTF-8, or a name in colons: 1 to 32 characters `a-z 0-9 _ + -`',
  user_id: 'The user',
  session_id: 'The session',
  key: 'The key of the photo: the last part of its URL',
  key_id: 'The API key',
  grant_id: 'What an application is allowed',
  bot_id: 'The bot',
  hook_id: 'The incoming hook',
  notice_id: 'The notice',
  webhook_id: 'The webhook',
  delivery_id: 'The delivery, from the list of the webhook',
  subject: 'Your own id of the person',
  identity_id: 'The identity at a provider',
  invite_id: 'The invite of a newcomer',
  id: 'The profile or the assignment',
  chat_id: 'The chat, by its name or by the id of its first message',
  call_id: 'The call of a tool',
  token: 'The token of the invite, or of the link',
  attachment_id: 'The attachment',
  n: 'The number of the part, from 1',
  provider: 'A provider by its name in the configuration, such as `github`',
  response_id: 'The response',
  named_id: 'The conversation of OpenAI',
  item_id: 'The item',
  completion_id: 'The completion',
  model_id: 'The model: the key of an assistant',
  path: 'What follows `/.well-known/`, slashes included',
}

/** The usual spelling of request headers. */
export const HEADER_NAMES = {
  'last-event-id': 'Last-Event-ID',
  'x-ui-version': 'X-UI-Version',
  'idempotency-key': 'Idempotency-Key',
  'content-digest': 'Content-Digest',
  range: 'Range',
  'if-range': 'If-Range',
  'if-none-match': 'If-None-Match',
}

/** The description of each group of endpoints. */
export const TAGS: Record<Tag, string> = {
  Setup: 'Creating the first user.',
  Authentication: 'Signing in and out, with a password or through a provider; your own account, sessions and API keys.',
  Conversations: 'Conversations, their participants and roles.',
  Invites: 'Tokens for joining a conversation.',
  Users: 'Finding other users.',
  'Threads and messages': 'Threads of replies at any depth, their messages, unread counts, and assistant answers.',
  Attachments: 'Files in messages: uploaded in parts, and read by those who may read the message.',
  Notifications: 'The inbox: what concerns you, in all your conversations.',
  Presence: 'Online status and typing.',
  Stream: 'Events as server-sent events, resumable without a gap or a repeat.',
  Webhooks: 'URLs that are called with each event.',
  Administration: 'Users, rate limits and the audit log, for administrators.',
  Operations: 'For operators: probes, metrics, well-known documents, and this description.',
  Compatibility:
    "Answers and chats in the format of the AI SDK's `useChat`; and an echo in the format of OpenAI, for tests of clients of such APIs, which needs no session, and whose errors have the format of OpenAI.",
}

/** The rules for all calls. */
export const DESCRIPTION = `Users, conversations with participants, threads of messages, and a live event stream.

- Bodies are JSON in UTF-8, fields in snake_case. Unknown fields are ignored, types are never converted, and missing
  values are left out, never null, unless documented. Ids are UUIDv7, timestamps are RFC 3339 in UTC with microseconds.
- A body nested deeper than 32, with more than 1,000 entries in all (10,000 under \`/v1\`) or with a key \`__proto__\`
  anywhere is \`malformed_json\`. Lengths count UTF-16 units: a character beyond U+FFFF, such as most emoji, is two.
- Signing in sets two cookies. Every call with a session, except GET, sends the value of the CSRF cookie in a header.
  An API key or a signed token in \`Authorization: Bearer\` needs neither.
- Errors are problem documents (RFC 9457): \`code\` is for programs and does not change, \`detail\` is for people, and
  \`errors\` lists the invalid fields. A resource that the caller may not see is \`not_found\`, as if it did not exist.
- Lists with more pages have \`next_after\` or \`next_cursor\`. A \`limit\` above the maximum is lowered to it.
- Every path with GET also supports HEAD, and every path supports OPTIONS, with \`Allow\`.
- Every response has \`X-Content-Type-Options\`, \`Content-Security-Policy\`, \`Referrer-Policy\` and
  \`Cross-Origin-Resource-Policy\`, under \`/api\` also \`Cache-Control: no-store\`, and for allowed pages of other origins
  the CORS headers.`
