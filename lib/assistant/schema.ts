import * as v from 'valibot'

const Tokens = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)))

/** How many tokens an answer took, as its provider counts them. */
export const Usage = v.object({ prompt_tokens: Tokens, completion_tokens: Tokens, total_tokens: Tokens })
export type Usage = v.InferOutput<typeof Usage>

/** Why an answer failed, and what everybody may know of it. */
export const FAILURES = {
  timeout: 'The assistant took too long.',
  provider_error: 'The assistant could not answer.',
  connection_lost: 'The connection to the assistant broke off.',
  invalid_answer: 'The assistant sent something that is no answer.',
  empty_answer: 'The assistant had nothing to say.',
  answer_too_long: 'The answer was longer than allowed.',
} as const

export type FailureCode = keyof typeof FAILURES
