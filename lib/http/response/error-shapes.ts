import * as v from 'valibot'
import { type ChatError, MESSAGES, REASONS } from '../../core/errors.ts'
import { toCompatFailure } from '../../openai-api/rules.ts'

/** A format of failures: the same in every response, in the OpenAPI document and in the tests. */
export interface FailureShape {
  content_type: string
  toBody(error: ChatError, requestId: string): object
}

/** The problem of one field of a request. */
export const FieldProblem = v.object({ path: v.string(), message: v.string() })

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
})

/** The default format of failures. */
export const PROBLEM: FailureShape = {
  content_type: 'application/problem+json',
  toBody: ({ code, status, message, errors, reason, right }, request_id) => ({
    type: `urn:chat-server:problem:${code}`,
    title: MESSAGES[code],
    status,
    detail: message,
    code,
    request_id,
    ...(errors && { errors }),
    ...(reason && { reason }),
    ...(right && { right }),
  }),
}

/** The format that OpenAI clients understand. */
export const OPENAI: FailureShape = {
  content_type: 'application/json',
  toBody: toCompatFailure,
}
