/** The HTTP status of every failure that a caller can cause. Codes are public API: add, never rename. */
export const STATUSES = {
  bad_request: 400,
  malformed_json: 400,
  already_set_up: 400,
  oauth_state_invalid: 400,
  oauth_denied: 400,
  unauthenticated: 401,
  session_expired: 401,
  invalid_credentials: 401,
  csrf_failed: 403,
  forbidden: 403,
  confirmation_required: 403,
  account_disabled: 403,
  invite_email_mismatch: 403,
  signup_disabled: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  already_participant: 409,
  last_owner: 409,
  message_deleted: 409,
  message_streaming: 409,
  message_not_deleted: 409,
  email_taken: 409,
  username_taken: 409,
  idempotency_mismatch: 409,
  attachment_not_ready: 409,
  attachment_refused: 409,
  quota_exceeded: 409,
  setup_required: 409,
  profile_in_use: 409,
  invite_expired: 410,
  invite_revoked: 410,
  invite_used: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  validation_failed: 422,
  invalid_cursor: 422,
  thread_too_deep: 422,
  rate_limited: 429,
  too_many_streams: 429,
  internal: 500,
  oauth_provider_error: 502,
  unavailable: 503,
  storage_full: 507,
} as const satisfies Record<string, number>

/** The code of a failure, as in `code` of an error body. */
export type ErrorCode = keyof typeof STATUSES

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

/** The default messages by code. Pages are sent those of the service, and load none. */
let messages: Partial<Record<ErrorCode, string>> = {}

/** Sets the default messages of all errors from now on. */
export function setMessages(texts: Record<ErrorCode, string>): void {
  messages = texts
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
    super(details.message ?? messages[code] ?? code, { cause: details.cause })
    this.code = code
    this.status = STATUSES[code]
    this.errors = details.errors
    this.retry_after_seconds = details.retry_after_seconds
    this.content_range = details.content_range
    this.request_id = details.request_id
  }
}
