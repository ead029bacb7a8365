import { ChatError, ERRORS, type ErrorCode, type FieldError } from '../core/errors.ts'
import type { CompatFailure } from '../openai-api/schema.ts'
import { pause, retryAfterOf, spread } from './backoff.ts'

/** How often a read is tried again when the service cannot be reached or asks to wait. */
const ATTEMPTS = 3

interface FailureBody extends Partial<CompatFailure> {
  code?: string
  detail?: string
  errors?: FieldError[]
}

/** The failure that an answer stands for, the service's own or a gateway's. */
export async function readError(response: Response): Promise<ChatError> {
  const problem = toProblem(await response.json().catch(() => ({})))
  // Gateways answer for a service they cannot reach.
  const otherwise = response.status >= 502 && response.status <= 504 ? 'unavailable' : 'internal'
  const code = (problem.code && Object.hasOwn(ERRORS, problem.code) ? problem.code : otherwise) as ErrorCode
  const retry_after_seconds = retryAfterOf(response.headers.get('retry-after'), Date.now())
  return new ChatError(code, {
    ...(problem.detail && { message: problem.detail }),
    ...(problem.errors && { errors: problem.errors }),
    ...(retry_after_seconds !== undefined && { retry_after_seconds }),
  })
}

/** What a failure says, in either of the shapes it can have. */
function toProblem(body: FailureBody): Omit<FailureBody, 'error'> {
  if (!body.error) return body
  const { code, message, param } = body.error
  return { code, detail: message, ...(param && { errors: [{ path: param, message }] }) }
}

/** Makes a call that changes nothing again when that may help. */
export async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS - 1; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      const mayPass = error instanceof ChatError ? isPassing(error) : error instanceof TypeError
      if (!mayPass || left === 0) throw error
      await pause(spread(Math.min(5, (error instanceof ChatError && error.retry_after_seconds) || 1) * 1000))
    }
  }
}

/** Whether to wait helps. */
export function isPassing({ code }: ChatError): boolean {
  return code === 'unavailable' || code === 'rate_limited'
}
