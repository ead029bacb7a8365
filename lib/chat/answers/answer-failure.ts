import { FAILURES, type FailureCode } from './schema-failures.ts'

/** The failure of an answer. `cause` is for the log only. */
export class AnswerFailure extends Error {
  override readonly name = 'AnswerFailure'
  readonly code: FailureCode
  /** When another question may be answered. */
  readonly retry_after_seconds: number | undefined

  constructor(code: FailureCode, cause?: unknown, { retry_after_seconds }: { retry_after_seconds?: number } = {}) {
    super(FAILURES[code], { cause })
    this.code = code
    this.retry_after_seconds = retry_after_seconds
  }
}
