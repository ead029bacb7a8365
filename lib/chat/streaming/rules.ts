import { isVisible } from '../../core/characters.ts'
import { SECOND } from '../../core/units.ts'
import type { AnswerEnd } from '../answers/store.ts'

/** How often chunks of one message arrive by calls. */
export const CHUNK_RATE = { requests_per_second: 20, burst: 20 }

/** A message that is about to end. */
export interface Ending {
  content: string
  failed?: boolean | undefined
  finish_reason?: string | undefined
  /** How long it was streamed, in microseconds. */
  age: number
}

/** Whether a message has been streamed for longer than it may be. */
export function isLate(age: number, stream_seconds: number): boolean {
  return age > stream_seconds * SECOND
}

/** How a message ends whose program says that it does. */
export function endOf({ content, failed, finish_reason, age }: Ending, stream_seconds: number): AnswerEnd {
  const failure = failed
    ? 'provider_error'
    : isLate(age, stream_seconds)
      ? 'timeout'
      : isVisible(content)
        ? undefined
        : 'empty_answer'
  if (failure) return { status: 'failed', finish_reason: 'failed', failure }
  return { status: 'complete', finish_reason: finish_reason ?? 'stop' }
}
