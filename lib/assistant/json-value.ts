import { AnswerFailure } from '../chat/answers/answer-failure.ts'
import { isExactJson } from '../core/exact-json.ts'

/**
 * A value of a provider as JSON.
 *
 * @throws AnswerFailure `invalid_answer` for what JSON cannot have, for numbers that it would store as others, and for a value
 *   that is nested too deeply
 */
export function toJsonText(value: unknown, name: string): string {
  if (!isExactJson(value)) throw new AnswerFailure('invalid_answer', `${name} that JSON cannot have`)
  return JSON.stringify(value)
}
