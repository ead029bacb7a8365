import { ChatError, type ErrorCode, type ErrorReason, type ExceededQuota, type FieldError } from '../core/chat-error.ts'
import type { CompatFailure } from '../openai-api/schema.ts'
import { isTransient, parseRetryAfter, pause, spread } from './backoff.ts'

/** How often a read is retried when the service is unreachable or asks to wait. */
const MAX_ATTEMPTS = 3

/** What a response has of a failure. */
export interface FailureBody extends Partial<CompatFailure> {
  type?: string
  code?: string
  detail?: string
  errors?: FieldError[]
  reason?: ErrorReason
  right?: string
  quota?: ExceededQuota
}

/** The failure in a response, of the service itself or of a gateway. */
export async function readError(response: Response): Promise<ChatError> {
  const problem = await toProblem(await response.json().catch(() => ({})))
  // Gateways respond for a service they cannot reach; a body that came too slowly may come faster the next time.
  const isPassing = (response.status >= 502 && response.status <= 504) || response.status === 408
  const otherwise = isPassing ? 'unavailable' : 'internal'
  const code = (problem.code ?? otherwise) as ErrorCode
  return new ChatError(code, {
    ...problem,
    status: response.status,
    request_id: response.headers.get('x-request-id') ?? undefined,
    retry_after_seconds: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
    message: problem.detail || `The service responded with status ${response.status}.`,
  })
}

/** The fields of a failure of the service, in either of its formats: others have codes of their own. */
async function toProblem({ error, ...body }: FailureBody): Promise<FailureBody> {
  // Loaded by programs that use the endpoints of OpenAI.
  if (error) return (await import('./compat.ts')).toProblem(error)
  return body.type === `urn:chat-server:problem:${body.code}` ? body : {}
}

/** Retries a call that changes nothing, if a retry may help. */
export async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = MAX_ATTEMPTS - 1; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error) || left === 0) throw error
      await pause(spread(Math.min(5, (error instanceof ChatError && error.retry_after_seconds) || 1) * 1000))
    }
  }
}
