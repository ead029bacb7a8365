import * as v from 'valibot'
import { type ChatError, MESSAGES, REASONS } from '../../core/errors.ts'
import { Instant } from '../../core/schema.ts'
import { FailedAfterAsking, toCompatFailure } from '../../openai-api/rules.ts'

/** A format of failures: the same in every response, in the OpenAPI document and in the tests. */
export interface FailureShape {
  content_type: string
  toBody(error: ChatError, requestId: string): object
  /** Headers besides those of every failure. */
  headers?(error: ChatError): [name: string, value: string][]
}

/** The problem of one field of a request. */
export const FieldProblem = v.object({ path: v.string(), message: v.string() })

const Amount = v.pipe(v.number(), v.integer())

/** The quota of the assistant that a request would exceed. */
export const ExceededQuota = v.object({
  scope: v.pipe(v.picklist(['user', 'service']), v.description("Whether it is the caller's, or that of all users")),
  period: v.picklist(['day', 'month']),
  unit: v.picklist(['answers', 'tokens', 'cost_micros']),
  limit: Amount,
  used: v.pipe(Amount, v.description('What is used, with what is reserved for answers in progress')),
  resets_at: Instant,
})

/** A problem document (RFC 9457). */
export const Problem = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  detail: v.string(),
  code: v.string(),
  request_id: v.string(),
  errors: v.optional(v.array(FieldProblem)),
  reason: v.optional(
    v.pipe(v.string(), v.description(`Why rights refuse the request: ${Object.keys(REASONS).join(', ')}`)),
  ),
  right: v.optional(v.pipe(v.string(), v.description('The right that is missing'))),
  quota: v.optional(ExceededQuota),
})

/** The default format of failures. */
export const PROBLEM: FailureShape = {
  content_type: 'application/problem+json',
  toBody: ({ code, status, message, errors, reason, right, quota }, request_id) => ({
    type: `urn:chat-server:problem:${code}`,
    title: MESSAGES[code],
    status,
    detail: message,
    code,
    request_id,
    ...(errors && { errors }),
    ...(reason && { reason }),
    ...(right && { right }),
    ...(quota && { quota }),
  }),
}

/** The format that OpenAI clients understand. */
export const OPENAI: FailureShape = {
  content_type: 'application/json',
  toBody: toCompatFailure,
  // The SDKs repeat every 409, which here is the same each time.
  headers: (error) => (error.status === 409 || error instanceof FailedAfterAsking ? [['x-should-retry', 'false']] : []),
}
