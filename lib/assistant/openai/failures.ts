import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import type { FailureCode } from '../../chat/answers/schema-failures.ts'
import { parseRetryAfter } from '../../core/retry-after.ts'
import { SECOND } from '../../core/units.ts'

/** What may help after a failed call: another one, at once or after a pause, or one with fewer turns. */
export type Remedy = { after_seconds?: number | undefined } | 'fewer-turns'

/** The failure of a call that another one may do better. */
export class CallFailure extends AnswerFailure {
  readonly remedy: Remedy

  constructor(code: FailureCode, cause: unknown, remedy: Remedy) {
    super(code, cause, remedy === 'fewer-turns' ? {} : { retry_after_seconds: remedy.after_seconds })
    this.remedy = remedy
  }
}

/** The status with which a server says that it has too much to do. */
const BUSY = [429, 503, 529]

/**
 * The failure of a response that is no answer.
 *
 * @param said its body, or the start of it
 * @param summary the loggable part of that
 */
export function failureOf({ status, headers }: Response, said: string, summary: string): AnswerFailure {
  const cause = `status ${status}: ${summary}`
  if (status < 500 && isTooLong(said)) return new CallFailure('provider_error', cause, 'fewer-turns')
  const code = BUSY.includes(status) ? 'provider_busy' : 'provider_error'
  if (status !== 408 && status !== 429 && status < 500) return new AnswerFailure(code, cause)
  // A date is meant by the clock of the server.
  const sent_at = Date.parse(headers.get('date') ?? '') * 1000 || 0
  const until = parseRetryAfter(headers.get('retry-after'), sent_at)
  const after_seconds = until === undefined ? undefined : Math.ceil((until - sent_at) / SECOND)
  return new CallFailure(code, cause, { after_seconds })
}

/** The failure of a stream that says so itself. */
export function failureIn(said: string, summary: string): AnswerFailure {
  if (isTooLong(said)) return new CallFailure('provider_error', summary, 'fewer-turns')
  return new AnswerFailure('provider_error', summary)
}

/** Servers name it by a code (OpenAI), by a type (llama.cpp), or in words alone (vLLM). */
function isTooLong(said: string): boolean {
  return /"(context_length_exceeded|exceed_context_size_error)"|maximum context length/.test(said)
}
