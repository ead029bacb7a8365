import type { ErrorCode, ErrorReason } from './error-table.ts'

export type { ErrorCode, ErrorReason } from './error-table.ts'

/** Why a field of the input is refused; `path` like `a.b[0]`. */
export interface FieldError {
  path: string
  message: string
}

/** A quota that a call would exceed. */
export interface ExceededQuota {
  /** Whether it is the caller's, or that of all users together. */
  scope: 'user' | 'service'
  period: 'day' | 'month'
  unit: 'answers' | 'tokens' | 'cost_micros'
  limit: number
  /** What is used, with what is reserved for answers in progress. */
  used: number
  resets_at: string
}

/** The options of a {@link ChatError}. */
export interface ErrorDetails extends ErrorOptions {
  /** Replaces the default message. It is sent to the caller: no secret, no path, no SQL. */
  message?: string
  /** The invalid fields, with `validation_failed`. */
  errors?: FieldError[]
  /** Why rights refuse the call. */
  reason?: ErrorReason
  /** The right that is missing, with the reasons `role`, `participant_role` and `policy`. */
  right?: string
  /** When a retry makes sense. */
  retry_after_seconds?: number | undefined
  /** The quota that is used up, with `rate_limited`. */
  quota?: ExceededQuota | undefined
  /** What there is, with `range_not_satisfiable`: the header of that name. */
  content_range?: string
  /** Set by the client: the status of the response. Default: that of the code. */
  status?: number
  /** Set by the client: the `X-Request-Id` of the response, by which the log of the service names the request. */
  request_id?: string | undefined
}

/** What the service says of each code and reason. Pages load none of it: they are sent the status and the message. */
export interface ErrorTable {
  statuses: Record<ErrorCode, number>
  messages: Record<ErrorCode, string>
  reasons: Record<ErrorReason, string>
}

let table: Partial<ErrorTable> = {}

/** Sets the statuses and default messages of all failures from now on. */
export function setErrorTable(all: ErrorTable): void {
  table = all
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
  /** Why rights refuse the call. */
  readonly reason: ErrorReason | undefined
  /** The right that is missing, with the reasons `role`, `participant_role` and `policy`. */
  readonly right: string | undefined
  readonly retry_after_seconds: number | undefined
  /** The quota that is used up, with `rate_limited`. */
  readonly quota: ExceededQuota | undefined
  /** With `range_not_satisfiable`: the header of that name. */
  readonly content_range: string | undefined
  /** The id of the request that failed, of an error that a client throws. */
  readonly request_id: string | undefined

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const byReason = details.reason && table.reasons?.[details.reason]
    super(details.message ?? byReason ?? table.messages?.[code] ?? code, { cause: details.cause })
    this.code = code
    this.status = details.status ?? table.statuses?.[code] ?? 0
    this.errors = details.errors
    this.reason = details.reason
    this.right = details.right
    this.retry_after_seconds = details.retry_after_seconds
    this.quota = details.quota
    this.content_range = details.content_range
    this.request_id = details.request_id
  }
}
