/** Why an answer failed, as every participant may read it. */
export const FAILURES = {
  timeout: 'The assistant took too long.',
  provider_error: 'The assistant could not answer.',
  provider_busy: 'The assistant is busy.',
  connection_lost: 'The connection to the assistant broke off.',
  invalid_answer: 'The assistant sent something that is no answer.',
  empty_answer: 'The assistant had nothing to say.',
  answer_too_long: 'The answer was longer than allowed.',
  too_many_steps: 'The assistant had no more steps for its answer.',
  refused: 'The answer was withdrawn.',
} as const

/** The code of a failure of an answer. */
export type FailureCode = keyof typeof FAILURES
