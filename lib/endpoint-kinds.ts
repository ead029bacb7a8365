import type { RESULT_HEADERS } from './core/headers.ts'

/** The methods of routes. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * The access rule: any caller; any caller, with an optional session; a signed-in user; or an administrator (checked by
 * the use-case).
 */
export type Access = 'public' | 'optional' | 'session' | 'admin'

/**
 * The kind of response: JSON; JSON with session cookies, which an empty result clears; nothing but the cookie of a known
 * browser; JSON with session cookies, or a redirect for requests that do not accept JSON; JSON with the cookie that binds a
 * sign-in through a provider; an event stream; the frames of a protocol, or JSON; text; a document, which is text with its own
 * media type; or a file, which is bytes of any length.
 */
export type AnswerKind =
  | 'json'
  | 'session'
  | 'device'
  | 'redirect'
  | 'binding'
  | 'stream'
  | 'frames'
  | 'text'
  | 'document'
  | 'file'

/** Headers that only some routes send. */
export type ResponseHeaders = {
  readonly [Name in
    | keyof typeof RESULT_HEADERS
    | 'Set-Cookie'
    | 'X-Session-Rotated'
    | 'Cache-Control'
    | 'Accept-Ranges'
    | 'Content-Disposition'
    | 'Content-Range'
    | 'ETag'
    | 'Last-Modified'
    | 'X-Accel-Buffering'
    | 'X-Vercel-AI-UI-Message-Stream']?: 'always' | 'maybe'
}

/** The groups of the documentation. */
export type Tag =
  | 'Setup'
  | 'Authentication'
  | 'Conversations'
  | 'Invites'
  | 'Users'
  | 'Threads and messages'
  | 'Attachments'
  | 'Notifications'
  | 'Presence'
  | 'Stream'
  | 'Webhooks'
  | 'Administration'
  | 'Operations'
  | 'Compatibility'
