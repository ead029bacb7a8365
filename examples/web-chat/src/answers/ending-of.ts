import type { Message } from 'chat-server/client'
import type { texts } from '../texts/answers-en.ts'
import { isRunning } from '../threads/is-running.ts'

type Words = (typeof texts)['answers']

/** How an answer has ended, other than whole. */
export interface Ending {
  /** In the language that is shown. */
  text: (words: Words) => string
  /** Whether the same question may get another answer. */
  helpsAgain: boolean
}

/** Why the same question would end so again. */
const FINAL: readonly string[] = ['answer_too_long', 'refused']

/** Why an answer has ended early, or may have; `undefined` while it is written, and for a whole one. */
export function endingOf({
  status,
  failure,
  finish_reason = '',
}: Pick<Message, 'status' | 'failure' | 'finish_reason'>): Ending | undefined {
  if (isRunning({ status })) return undefined
  if (failure)
    return {
      text: ({ failures, endings }) => failures[failure] ?? endings.failed,
      helpsAgain: !FINAL.includes(failure),
    }
  if (status === 'failed' || status === 'interrupted' || status === 'cancelled')
    return { text: ({ endings }) => endings[status], helpsAgain: true }
  // The assistant goes on when it is asked to: another answer would end at the same limit.
  if (finish_reason === 'length') return { text: ({ at_limit }) => at_limit, helpsAgain: false }
  if (finish_reason === 'content_filter') return { text: ({ filtered }) => filtered, helpsAgain: true }
  return finish_reason === 'unknown' ? { text: ({ perhaps_cut }) => perhaps_cut, helpsAgain: true } : undefined
}
