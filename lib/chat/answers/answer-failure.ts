import { FAILURES, type FailureCode } from './schema-failures.ts'

/** The failure of an answer. `cause` is for the log only. */
export class AnswerFailure extends Error {
  override readonly name = 'AnswerFailure'
  readonly code: FailureCode

  constructor(code: FailureCode, cause?: unknown) {
    super(FAILURES[code], { cause })
    this.code = code
  }
}
