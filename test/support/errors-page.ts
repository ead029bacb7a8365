import { ERRORS, type ErrorCode } from '../../lib/core/errors.ts'
import { wrap } from './markdown.ts'

/** Why each failure comes, and what helps. */
const FAILURES: { [Code in ErrorCode]: { cause: string; remedy: string } } = {
  bad_request: {
    cause:
      'The path is not in its plain form: it has a segment that is empty, `.` or `..`, a slash at its end, a backslash, a ' +
      '`#`, or an escape of a letter, a digit, or one of `-._~`. Only one spelling is served, so that the rule of a proxy on ' +
      'a path holds.',
    remedy: 'Send the path as it is in this reference, without a slash at its end.',
  },
  malformed_json: {
    cause:
      'The body is no JSON or no UTF-8, is missing, is nested deeper than 32, has more than 1,000 entries (10,000 under ' +
      '`/v1`), or has `__proto__` for a key.',
    remedy: 'Send the body through a JSON encoder, in UTF-8. A body that is too long for one call wants to be several.',
  },
  already_set_up: {
    cause: 'A user exists, so `POST /api/setup` is over; also for the later one of two calls at the same moment.',
    remedy: 'Sign in. An administrator who has lost the password gets a link from `chat-server user reset-link`.',
  },
  oauth_state_invalid: {
    cause:
      'The `state` of a return from a provider is unknown, was used before, is older than ten minutes, or was given to ' +
      'another browser, or for another provider. A browser that drops the cookie of the attempt looks the same.',
    remedy: 'Begin again with `GET /api/oauth/{provider}`, in the same browser and under the same address.',
  },
  oauth_denied: {
    cause: 'The provider sent the person back without a code: mostly, they have said no there.',
    remedy: 'Begin again, if they want to.',
  },
  unauthenticated: {
    cause:
      'No session and no API key came along, or one that is unknown, revoked or ended. A bearer token that is none is ' +
      'refused even when a cookie would do. `/metrics` asks for `metrics.token`.',
    remedy: 'Sign in, or send an API key that is valid. Behind a proxy, look whether cookies get through.',
  },
  session_expired: {
    cause: 'The session was unused for `session.idle_seconds`, or is older than `session.absolute_seconds`.',
    remedy: 'Sign in again. `POST /api/auth/refresh`, called in time, puts the first of the two off.',
  },
  invalid_credentials: {
    cause:
      'The e-mail address or the password is wrong, or the account has no password. Which of them is never said. When a ' +
      'password is changed: the current one is wrong.',
    remedy: 'Try again, or have a new password set with `POST /api/auth/forgot`.',
  },
  csrf_failed: {
    cause:
      'A call of a session that changes something has no CSRF header, or one that differs from the cookie or belongs to ' +
      'another session; or the call, or the stream, comes from a page of another origin.',
    remedy:
      'Repeat the value of the cookie `CSRF-TOKEN` in the header `X-CSRF-TOKEN`, anew after each sign-in and refresh. A ' +
      'page of another origin has to be in `server.cors.allowed_origins`.',
  },
  forbidden: {
    cause:
      "The caller may see this and may not do it: the participant's role does not allow it, the account is read-only, " +
      'the call is for administrators, or for sessions and came with an API key.',
    remedy:
      'Have somebody do it who may, or who can change the role; [the rights](rights.md) say who. Trying again is of no use.',
  },
  confirmation_required: {
    cause:
      'An API key was to be made, an identity linked or an e-mail address changed, with a session whose user last ' +
      'signed in, or confirmed the password, more than ten minutes ago.',
    remedy:
      'Send the password to `POST /api/auth/confirm` and repeat the call. A user without a password signs in again ' +
      'through the provider.',
  },
  account_disabled: {
    cause: 'An administrator has disabled the account. Said only to who knows the password.',
    remedy:
      'Ask an administrator, who enables it with `PATCH /api/admin/users/{user_id}` or `chat-server user enable`.',
  },
  invite_email_mismatch: {
    cause: 'The invite is for one e-mail address, and that is not the one of this account.',
    remedy: 'Accept it with the account of that address, or ask for an invite without one.',
  },
  signup_disabled: {
    cause:
      'A person without an account came through a provider while `oauth.allow_signup` is off, or with an invite that signs no newcomer up: `invites.*` says which do, and how many.',
    remedy:
      'An administrator creates the account; its user then signs in and links the provider (`link=true`), or accepts the invite.',
  },
  not_found: {
    cause:
      'There is no such thing, or the caller may not know of it: a conversation of others, and everything in it, looks ' +
      'like one that does not exist. Also malformed ids, unknown addresses, and calls of features that are turned off.',
    remedy:
      'Check the address and the id, and who is signed in. Somebody in the conversation may have removed the caller. ' +
      '`features.auth_v1`, `features.openai_compat`, `features.well_known` and `rate_limits.admin_api_enabled` each ' +
      'decide whether their calls are there.',
  },
  method_not_allowed: {
    cause: 'The address exists, and has no such method.',
    remedy: 'Use one of those in the header `Allow`.',
  },
  conflict: {
    cause:
      'Something there stands against it; `detail` says what: a name that is taken, a conversation for two that is full, ' +
      'the last administrator, an identity that belongs to another account, fifty API keys, a text that was erased.',
    remedy: 'Read `detail`, look at the present state, and change one or the other. The same call again fails again.',
  },
  already_participant: {
    cause: 'The user takes part in the conversation already.',
    remedy: 'None is needed. To give them another role, change it with `PATCH …/participants/{user_id}`.',
  },
  last_owner: {
    cause: 'The only owner of a conversation would leave or take another role.',
    remedy: 'Make somebody else an owner first, or delete the conversation.',
  },
  message_deleted: {
    cause: 'A deleted message was to be edited, replied to, or deleted once more.',
    remedy: 'Restore it first, or reply to another message. When deleting: none is needed.',
  },
  message_streaming: {
    cause: 'An answer was to be edited that the assistant is still writing.',
    remedy: 'Wait for its `message.done`, or cancel it with `POST /api/messages/{message_id}/cancel`.',
  },
  message_not_deleted: {
    cause: 'A message was to be restored that is not deleted; perhaps somebody else was faster.',
    remedy: 'None is needed.',
  },
  email_taken: {
    cause: 'An account has this e-mail address, in whatever case.',
    remedy:
      'Sign in to that account. Who came through a provider signs in with the password first, and then links the ' +
      'provider (`GET /api/oauth/{provider}?link=true`).',
  },
  username_taken: {
    cause: 'An account has this username, in whatever case or compatible form.',
    remedy: 'Choose another one.',
  },
  idempotency_mismatch: {
    cause: 'The `Idempotency-Key` was used within a day, by the same user, for another post.',
    remedy: 'Take a new key for each post, and keep it for the repetitions of that one.',
  },
  setup_required: {
    cause: 'No user exists, so nobody can sign in through a provider.',
    remedy: 'Create the first administrator with `POST /api/setup` or `chat-server setup`.',
  },
  profile_in_use: {
    cause: 'A rate limit profile was to be deleted that is assigned to a route.',
    remedy: 'Delete its assignments first: `GET /api/admin/limits/assignments` lists them.',
  },
  invite_expired: {
    cause: 'The invite is older than its `ttl_seconds`.',
    remedy: 'Ask for a new one.',
  },
  invite_revoked: {
    cause:
      'The invite was revoked, or its maker could not give that role now: removed, demoted, disabled, erased or read-only.',
    remedy: 'Ask for a new one.',
  },
  invite_used: {
    cause: 'The invite was accepted as often as its `max_uses` allows; of two at the same moment, one comes too late.',
    remedy: 'Ask for a new one.',
  },
  payload_too_large: {
    cause:
      'The body has more than 512 KiB (1 MiB under `/v1`). It is refused before it is read, and the connection ends.',
    remedy: 'Send less. A proxy before the service may refuse less than that, with a page of its own.',
  },
  unsupported_media_type: {
    cause: 'A body came without `Content-Type: application/json`, with another charset than UTF-8, or compressed.',
    remedy: 'Send JSON in UTF-8, uncompressed, and say so.',
  },
  validation_failed: {
    cause:
      'A field, a query parameter or a header is missing, of the wrong type, or out of its bounds. `errors` names each.',
    remedy: 'Correct what `errors` names. Types are not converted: `"5"` is no number.',
  },
  invalid_cursor: {
    cause: 'The `after` or `cursor_path` was not given out by this list.',
    remedy: 'Take it from the page before as it is, or begin with the first page.',
  },
  thread_too_deep: {
    cause: 'The reply would be deeper than `limits.max_depth`.',
    remedy: 'Reply to a message further up.',
  },
  rate_limited: {
    cause:
      'More calls than the limit of the route allows to this user or address; or, when signing in, too many failures of ' +
      'the account or attempts from the address; or, for one invite or mailbox, too many sign-ups with taken addresses or ' +
      'mails. `X-RateLimit-Profile` names the limit of the route. Or a question to the assistant while the user has ' +
      '`assistant.max_running_per_user` answers under way.',
    remedy:
      'Wait as many seconds as `Retry-After` says, then try again. [Rate limits](../concepts/rate-limits.md) explain which there are.',
  },
  too_many_streams: {
    cause:
      'The user has `sse.max_streams_per_user` streams open; a lost one may count for a moment longer. Under `/v1`: the address has four.',
    remedy:
      'Close some, or follow all conversations in one stream (`GET /api/stream`). `Retry-After` says when to try again.',
  },
  internal: {
    cause: 'A fault of the service. Nothing is said about it but its `request_id`.',
    remedy: 'Look for the `request_id` in the log of the service, which has the whole error. A read may be repeated.',
  },
  oauth_provider_error: {
    cause: 'The sign-in provider could not be reached, took more than five seconds, or answered with something else.',
    remedy:
      "Try again later. Whoever runs the service finds the reason in its log, and checks the provider's settings.",
  },
  unavailable: {
    cause:
      'The service starts or stops, its storage cannot be reached or is busy, or too much is under way at once. From ' +
      '`/readyz`, `errors` names what fails.',
    remedy:
      'Wait as many seconds as `Retry-After` says, then try again; a post with the same `Idempotency-Key` is made once.',
  },
  storage_full: {
    cause: 'The disk or the database has no room left. Nothing of the call was kept.',
    remedy: 'Whoever runs the service makes room; nothing has to be restarted. Reads go on.',
  },
}

const EXAMPLE = {
  type: 'urn:chat-server:problem:validation_failed',
  title: ERRORS.validation_failed[1],
  status: ERRORS.validation_failed[0],
  detail: ERRORS.validation_failed[1],
  code: 'validation_failed',
  request_id: 'b2f7d1c0-5c1e-4d0c-9f6e-0d8c1f6a7b3e',
  errors: [{ path: 'content', message: 'must have something visible in it' }],
}

const INTRODUCTION = `<!-- Made from lib/core/errors.ts by test/support/generate-docs.ts: change its codes there, and the rest in
     test/support/errors-page.ts. -->

# Errors

Every failure over HTTP is a problem document (RFC 9457), \`application/problem+json\`:

\`\`\`json
${JSON.stringify(EXAMPLE, null, 2)}
\`\`\`

- \`code\` is for programs: it never changes its meaning. New codes may come.
- \`title\` says what the code means, \`detail\` what it means here. Both are for people, and may change.
- \`errors\` names the fields at fault, where there are any: \`path\` is like \`a.b[0]\`.
- \`request_id\` is the \`X-Request-Id\` of the answer, under which the log has what else there is to know.

In code they are a \`ChatError\` with the same \`code\`, thrown by the library and the client alike. Under \`/v1\` they [look
as those of OpenAI](compat.md#failures), with the same codes. A failure that is no JSON comes from something between: a
proxy, or the server before it has read the request.

A call changes something altogether or not at all. After a 4xx it has not. After a 5xx, or without any answer, nobody can
be sure: read what is there, and send posts with an \`Idempotency-Key\`, which makes them safe to repeat.

`

/** The page about every failure there is: when it comes, and what helps. */
export function errorsPage(): string {
  const codes = Object.entries(FAILURES) as [ErrorCode, (typeof FAILURES)[ErrorCode]][]
  const rows = codes.map(([code]) => `| ${ERRORS[code][0]} | [\`${code}\`](#${code}) | ${ERRORS[code][1]} |\n`)
  const entries = codes.map(
    ([code, { cause, remedy }]) =>
      `## \`${code}\`\n\n${ERRORS[code][0]}: ${ERRORS[code][1]}\n\n${wrap(`**Cause.** ${cause}`)}\n\n${wrap(`**Remedy.** ${remedy}`)}\n`,
  )
  return `${INTRODUCTION}| status | code | |\n|---|---|---|\n${rows.join('')}\n${entries.join('\n')}`
}
