/** Every failure a caller can cause: HTTP status and default message. Codes are public API: add, never rename. */
export const ERRORS = {
  bad_request: [400, 'The address of the request is not in its plain form.'],
  malformed_json: [400, 'The body is not valid JSON in UTF-8.'],
  already_set_up: [400, 'The service is already set up.'],
  oauth_state_invalid: [400, 'This sign-in has expired or was begun elsewhere: begin again.'],
  oauth_denied: [400, 'The sign-in was refused.'],
  unauthenticated: [401, 'Sign in first.'],
  session_expired: [401, 'The session has expired.'],
  invalid_credentials: [401, 'The e-mail or the password is wrong.'],
  csrf_failed: [403, 'The CSRF token is missing or does not belong to this session.'],
  forbidden: [403, 'You may not do this.'],
  confirmation_required: [403, 'Confirm your password first, or sign in again: this sign-in is too old.'],
  account_disabled: [403, 'This account is disabled.'],
  invite_email_mismatch: [403, 'The invite is for another e-mail.'],
  signup_disabled: [403, 'New accounts are not taken here.'],
  not_found: [404, 'There is nothing here, or it is not yours to see.'],
  method_not_allowed: [405, 'This address does not answer that method.'],
  request_timeout: [408, 'The body took too long to arrive.'],
  conflict: [409, 'This conflicts with what is there.'],
  already_participant: [409, 'This user already takes part in the conversation.'],
  last_owner: [409, 'A conversation cannot be without an owner.'],
  message_deleted: [409, 'The message is deleted.'],
  message_streaming: [409, 'The assistant is still writing the message.'],
  message_not_deleted: [409, 'The message is not deleted.'],
  email_taken: [409, 'An account with this e-mail exists.'],
  username_taken: [409, 'An account with this username exists.'],
  idempotency_mismatch: [409, 'The Idempotency-Key was used for another request.'],
  attachment_not_ready: [409, 'The file is not ready: it is being uploaded, or checked.'],
  attachment_refused: [409, 'The file was refused by the check of files.'],
  quota_exceeded: [409, 'Your files would take more space than you have.'],
  setup_required: [409, 'Create the first administrator first.'],
  profile_in_use: [409, 'The profile is still assigned to a route.'],
  invite_expired: [410, 'The invite has expired.'],
  invite_revoked: [410, 'The invite was revoked.'],
  invite_used: [410, 'The invite is used up.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  range_not_satisfiable: [416, 'The file has no such bytes.'],
  validation_failed: [422, 'The request does not have the expected shape.'],
  invalid_cursor: [422, 'The cursor is not one of this list.'],
  thread_too_deep: [422, 'The thread cannot be nested any deeper.'],
  rate_limited: [429, 'Too many requests: wait a moment.'],
  too_many_streams: [429, 'Too many open streams.'],
  internal: [500, 'Something went wrong on our side.'],
  oauth_provider_error: [502, 'The sign-in provider did not answer as it should.'],
  unavailable: [503, 'The service cannot answer right now.'],
  storage_full: [507, 'The storage is full.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

/** The code of a failure, as in `code` of an error body. */
export type ErrorCode = keyof typeof ERRORS

/** Why a field of the input is refused; `path` like `a.b[0]`. */
export interface FieldError {
  path: string
  message: string
}

/** The options of a {@link ChatError}. */
export interface ErrorDetails extends ErrorOptions {
  /** Replaces the default message. It is sent to the caller: no secret, no path, no SQL. */
  message?: string
  /** The invalid fields, with `validation_failed`. */
  errors?: FieldError[]
  /** When a retry makes sense. */
  retry_after_seconds?: number
  /** What there is, with `range_not_satisfiable`: the header of that name. */
  content_range?: string
  /** Set by the client: the `X-Request-Id` of the response, by which the log of the service names the request. */
  request_id?: string
}

/**
 * A failure that the caller can act on. Any other exception is a bug: it is logged completely and answered with a blank
 * 500.
 */
export class ChatError extends Error {
  override readonly name = 'ChatError'
  readonly code: ErrorCode
  readonly status: number
  readonly errors: FieldError[] | undefined
  readonly retry_after_seconds: number | undefined
  /** With `range_not_satisfiable`: the header of that name. */
  readonly content_range: string | undefined
  /** The id of the request that failed, of an error that a client throws. */
  readonly request_id: string | undefined

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const [status, message] = ERRORS[code]
    super(details.message ?? message, { cause: details.cause })
    this.code = code
    this.status = status
    this.errors = details.errors
    this.retry_after_seconds = details.retry_after_seconds
    this.content_range = details.content_range
    this.request_id = details.request_id
  }
}

/** The cause of a failure, for the log: for one with a general message, its `cause`. */
export function causeText(error: unknown): string {
  return String((error instanceof ChatError && error.cause) || error)
}
