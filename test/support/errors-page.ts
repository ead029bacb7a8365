import { type ErrorCode, MESSAGES, REASONS, STATUSES } from '../../lib/core/errors.ts'
import { wrap } from './markdown.ts'

/** The cause and the remedy of each error code. */
const FAILURES: { [Code in ErrorCode]: { cause: string; remedy: string } } = {
  bad_request: {
    cause:
      'The path is not in its plain form: it has an empty segment, `.` or `..`, a trailing slash, a backslash, a `#`, or ' +
      'an escaped letter, digit, or one of `-._~`. Only one spelling is served, so that a proxy rule for a path cannot be ' +
      'bypassed.',
    remedy: 'Send the path as written in this reference, without a trailing slash.',
  },
  malformed_json: {
    cause:
      'The body is missing, is not JSON or not UTF-8, is nested deeper than 32, has more than 1,000 entries (10,000 under ' +
      '`/v1`), or has the key `__proto__`.',
    remedy: 'Use a JSON encoder and UTF-8. Split a body with too many entries into several requests.',
  },
  already_set_up: {
    cause: 'A user exists, so `POST /api/setup` is closed. Of two simultaneous calls, the later one gets this error.',
    remedy: 'Sign in. For an administrator without a password, `chat-server user reset-link` creates a link.',
  },
  oauth_state_invalid: {
    cause:
      'The `state` in the callback of a provider is unknown, was used before, is older than ten minutes, or belongs to ' +
      'another browser or provider. The same happens if the browser drops the cookie of the attempt.',
    remedy: 'Start again with `GET /api/oauth/{provider}`, in the same browser and at the same address.',
  },
  oauth_denied: {
    cause: 'The provider redirected without a code, usually because the user refused there.',
    remedy: 'Start again if the user wants to.',
  },
  unauthenticated: {
    cause:
      'The request has no session and no API key, or one that is unknown, revoked or expired. An invalid bearer token is ' +
      'refused even if a valid cookie is present. `/metrics` requires `metrics.token`.',
    remedy: 'Sign in, or send a valid API key. Behind a proxy, check that it forwards cookies.',
  },
  session_expired: {
    cause: 'The session was unused for `session.idle_seconds`, or is older than `session.absolute_seconds`.',
    remedy: 'Sign in again. A timely `POST /api/auth/refresh` postpones the first of the two.',
  },
  invalid_credentials: {
    cause:
      'The email address or the password is wrong, or the account has no password; the response does not reveal which. ' +
      'When a password is changed: the current password is wrong.',
    remedy: 'Try again, or reset the password with `POST /api/auth/forgot`.',
  },
  csrf_failed: {
    cause:
      'A request with a session that changes data has no CSRF header, or the header differs from the cookie or belongs to ' +
      'another session. Or the request, or the stream, comes from a page of another origin.',
    remedy:
      'Send the value of the cookie `CSRF-TOKEN` in the header `X-CSRF-TOKEN`; read it again after each sign-in and ' +
      'refresh. List other origins in `server.cors.allowed_origins`.',
  },
  forbidden: {
    cause:
      'The caller can see the resource but lacks the right: the role of the participant does not allow it, the account is ' +
      'read-only, the call is for administrators, or it requires a session and came with an API key.',
    remedy:
      'Ask a participant with the right, or one who can change the role; see [the rights](rights.md). A retry fails again.',
  },
  confirmation_required: {
    cause:
      'Creating an API key, linking an identity or changing an email address requires that the user signed in, or ' +
      'confirmed the password, within the last ten minutes.',
    remedy:
      'Send the password to `POST /api/auth/confirm` and repeat the call. A user without a password signs in again ' +
      'through the provider.',
  },
  account_disabled: {
    cause: 'An administrator has disabled the account. Returned only if the password is right.',
    remedy: 'Ask an administrator to enable it with `PATCH /api/admin/users/{user_id}` or `chat-server user enable`.',
  },
  invite_email_mismatch: {
    cause: 'The invite is for an email address other than that of this account.',
    remedy: 'Accept it with the account of that address, or ask for an invite without an address.',
  },
  signup_disabled: {
    cause:
      'A new user came through a provider while `oauth.allow_signup` is off, or with an invite that allows no sign-up: ' +
      'the keys `invites.*` limit sign-ups.',
    remedy:
      'An administrator creates the account. Its user then signs in and links the provider (`link=true`), or accepts the ' +
      'invite.',
  },
  not_found: {
    cause:
      'The resource does not exist, or the caller may not know that it exists: a conversation of other users looks as if ' +
      'it did not exist. Also returned for malformed ids, unknown paths, and disabled features, whose key `detail` names.',
    remedy:
      'Check the path, the id and the signed-in user. A participant may have removed the caller from the conversation. ' +
      '`features.auth_v1`, `features.openai_compat`, `features.well_known` and `rate_limits.admin_api_enabled` enable ' +
      'their endpoints.',
  },
  method_not_allowed: {
    cause: 'The path exists but does not support the method.',
    remedy: 'Use a method from the header `Allow`.',
  },
  request_timeout: {
    cause:
      'A part of a file took longer than 300 seconds to arrive, or brought fewer than 64 KiB in 10 seconds while others waited ' +
      'for its place, or others waited for one and you had several.',
    remedy: 'Send the part again. On a slow connection, send fewer parts at once.',
  },
  conflict: {
    cause:
      'The current state does not allow it; `detail` has the reason: a name that is taken, a full conversation of two, ' +
      'the last administrator, an identity of another account, fifty API keys, an erased text.',
    remedy: 'Read `detail` and the current state, and change the state or the request. The same request fails again.',
  },
  already_participant: {
    cause: 'The user already participates in the conversation.',
    remedy: 'Nothing to do. To change the role, use `PATCH …/participants/{user_id}`.',
  },
  last_owner: {
    cause: 'The only owner of a conversation tried to leave or to change role.',
    remedy: 'Make another participant an owner first, or delete the conversation.',
  },
  message_deleted: {
    cause: 'The message is deleted and cannot be edited, replied to, or deleted again.',
    remedy: 'Restore it first, or reply to another message. After a second deletion, nothing to do.',
  },
  message_streaming: {
    cause: 'The assistant is still writing the answer, so it cannot be edited.',
    remedy: 'Wait for its `message.done`, or cancel it with `POST /api/messages/{message_id}/cancel`.',
  },
  message_not_deleted: {
    cause: 'The message to restore is not deleted; another user may have restored it already.',
    remedy: 'Nothing to do.',
  },
  email_taken: {
    cause: 'An account has this email address; case is ignored.',
    remedy:
      'Sign in to that account. To use a provider, sign in with the password first, then link the provider ' +
      '(`GET /api/oauth/{provider}?link=true`).',
  },
  username_taken: {
    cause: 'An account has this username; case and compatible Unicode forms are ignored.',
    remedy: 'Choose another username.',
  },
  idempotency_mismatch: {
    cause: 'The same user sent the `Idempotency-Key` with another post within a day.',
    remedy: 'Use a new key for each post, and repeat the key only to retry that post.',
  },
  attachment_not_ready: {
    cause:
      'The file is still being uploaded, or checked. Of a post: not all of its parts are there. Of a read: it is attached ' +
      'before it was checked (`attachments.scan = after`).',
    remedy: 'Send the missing parts, or try again in a moment: `attachment.changed` is sent when it is ready.',
  },
  attachment_refused: {
    cause: 'The check of files has refused the file; its bytes are deleted.',
    remedy: 'Post without it. `reason` of the attachment says why.',
  },
  quota_exceeded: {
    cause: 'With this file, the files of the user would be larger than `attachments.per_user_bytes`.',
    remedy: 'Delete messages with files, or files that no message has. An operator can raise the limit.',
  },
  setup_required: {
    cause: 'No user exists yet, so sign-in through a provider is closed.',
    remedy: 'Create the first administrator with `POST /api/setup` or `chat-server setup`.',
  },
  profile_in_use: {
    cause: 'The rate limit profile to delete is assigned to a route.',
    remedy: 'Delete its assignments first: `GET /api/admin/limits/assignments` lists them.',
  },
  invite_expired: {
    cause: 'The invite is older than its `ttl_seconds`.',
    remedy: 'Ask for a new invite.',
  },
  invite_revoked: {
    cause:
      'The invite was revoked, or its creator lost the right to give the role: removed, demoted, disabled, erased or ' +
      'read-only.',
    remedy: 'Ask for a new invite.',
  },
  invite_used: {
    cause:
      'The invite has reached its `max_uses`. Of two simultaneous uses of the last one, the later gets this error.',
    remedy: 'Ask for a new invite.',
  },
  payload_too_large: {
    cause:
      'The body is larger than 512 KiB (1 MiB under `/v1`). The service refuses it before reading it and closes the ' +
      'connection.',
    remedy: 'Send less. A proxy may have a lower limit, with its own error page.',
  },
  unsupported_media_type: {
    cause: 'The body has no `Content-Type: application/json`, has a charset other than UTF-8, or is compressed.',
    remedy: 'Send uncompressed JSON in UTF-8 with the right `Content-Type`.',
  },
  range_not_satisfiable: {
    cause: 'The range of bytes begins behind the end of the file. `Content-Range` has its size.',
    remedy: 'Ask for bytes that the file has.',
  },
  validation_failed: {
    cause: 'A field, a query parameter or a header is missing, has the wrong type, or is out of bounds. See `errors`.',
    remedy: 'Correct the fields in `errors`. Types are not converted: `"5"` is not a number.',
  },
  invalid_cursor: {
    cause: 'The `after` or `cursor_path` was not returned by this list.',
    remedy: 'Pass the cursor of the previous page unchanged, or start with the first page.',
  },
  thread_too_deep: {
    cause: 'The reply would be deeper than `limits.max_depth`.',
    remedy: 'Reply to a message further up.',
  },
  rate_limited: {
    cause:
      'The user or the IP address exceeds the limit of the route. Or, at sign-in, the account has too many failures or the ' +
      'address too many attempts. Or one invite had too many sign-ups with taken addresses, or one mailbox too many ' +
      'mails. Or the user asks the assistant while `assistant.max_running_per_user` answers are in progress. ' +
      '`X-RateLimit-Profile` names the limit of the route.',
    remedy: 'Wait for the seconds in `Retry-After`, then try again. See [rate limits](../concepts/rate-limits.md).',
  },
  too_many_streams: {
    cause:
      'The user has `sse.max_streams_per_user` open streams, and the client of each reads; a lost one may count for a moment longer. Under `/v1`: the ' +
      'address has four.',
    remedy:
      'Close some, or follow all conversations in one stream (`GET /api/stream`). `Retry-After` is the time to wait.',
  },
  internal: {
    cause: 'A bug in the service. The response contains only the `request_id`.',
    remedy: 'Search the log of the service for the `request_id`; it has the whole error. Reads can be retried.',
  },
  oauth_provider_error: {
    cause: 'The sign-in provider was unreachable, took more than five seconds, or sent an invalid response.',
    remedy: "Try again later. The operator finds the reason in the log and checks the provider's settings.",
  },
  unavailable: {
    cause:
      'The service is starting or stopping, its storage is unreachable or busy, or too much work is in progress. ' +
      'In the response of `/readyz`, `errors` lists the failed checks.',
    remedy:
      'Wait for the seconds in `Retry-After`, then try again; a post with the same `Idempotency-Key` is created once.',
  },
  storage_full: {
    cause: 'The disk is full, or nearly: the rest is for what frees space. Nothing of the request was stored.',
    remedy:
      'The operator [frees some space](../guides/when-the-storage-fails.md#when-the-disk-is-full); no restart is needed. Reads and deletions continue.',
  },
}

const EXAMPLE = {
  type: 'urn:chat-server:problem:validation_failed',
  title: MESSAGES.validation_failed,
  status: STATUSES.validation_failed,
  detail: MESSAGES.validation_failed,
  code: 'validation_failed',
  request_id: 'b2f7d1c0-5c1e-4d0c-9f6e-0d8c1f6a7b3e',
  errors: [{ path: 'content', message: 'must have something visible in it' }],
}

const INTRODUCTION = `<!-- Generated from lib/core/errors.ts by test/support/generate-docs.ts: change the codes there, and the rest in
     test/support/errors-page.ts. -->

# Errors

Every HTTP error is a problem document (RFC 9457), \`application/problem+json\`:

\`\`\`json
${JSON.stringify(EXAMPLE, null, 2)}
\`\`\`

- \`code\` is for programs: its meaning never changes. New codes may be added.
- \`title\` describes the code, \`detail\` this error. Both are for people, and may change.
- \`errors\` lists the invalid fields, if any: \`path\` is like \`a.b[0]\`.
- \`request_id\` is the \`X-Request-Id\` of the response; the log has the details under that id.

The library and the client throw a \`ChatError\` with the same \`code\`. Under \`/v1\` errors have
[OpenAI's format](compat.md#failures), with the same codes. An error without JSON comes from a proxy, or from the server
before it has read the request.

A request makes all of its changes or none. After a 4xx it has made none. After a 5xx, or without any response, the result
is unknown: read the current state, and send posts with an \`Idempotency-Key\`, which makes retries safe.

`

/** The reference page of all error codes with cause and remedy. */
export function errorsPage(): string {
  const codes = Object.entries(FAILURES) as [ErrorCode, (typeof FAILURES)[ErrorCode]][]
  const rows = codes.map(([code]) => `| ${STATUSES[code]} | [\`${code}\`](#${code}) | ${MESSAGES[code]} |\n`)
  const entries = codes.map(
    ([code, { cause, remedy }]) =>
      `## \`${code}\`\n\n${STATUSES[code]}: ${MESSAGES[code]}\n\n${wrap(`**Cause.** ${cause}`)}\n\n${wrap(`**Remedy.** ${remedy}`)}\n`,
  )
  const reasons = Object.entries(REASONS).map(([reason, message]) => `| \`${reason}\` | ${message} |\n`)
  const table = `| status | code | |\n|---|---|---|\n${rows.join('')}`
  return `${INTRODUCTION}${table}\n${REASONS_HEAD}| reason | |\n|---|---|\n${reasons.join('')}\n${entries.join('\n')}`
}

const REASONS_HEAD = `## Reasons

${wrap(
  'A 403, 409 or 429 that the rights of the caller cause says why in `reason`: the first that applies, in this order. With ' +
    '`role`, `participant_role` and `policy`, `right` names [the right](rights.md) that is missing; ' +
    '`role` is alone where the account may change nothing, as `read_only`, or is no administrator. `ChatError` has both.',
)}

`
