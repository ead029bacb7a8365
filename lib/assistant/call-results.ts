import type { ToolState } from '../chat/answers/schema-parts.ts'
import type { GivenPart } from './provider.ts'

/** What a model is told of a call without a result, by its state. */
export const SENTENCES: Record<ToolState, string> = {
  requested: 'The call has not started yet.',
  waiting: 'The call waits for the approval of a participant. The tool has not run.',
  approved: 'The call is approved, and has not started yet.',
  running: 'The call has not ended yet.',
  done: 'The tool has run. Its result is not available.',
  failed: 'The tool has failed.',
  denied: 'A participant denied the call. The tool has not run.',
  expired: 'No participant approved the call in time. The tool has not run.',
  unknown:
    'It is not known whether the tool has run: the call may have had its effect. Do not repeat it, and do not tell the user that it has or has not happened.',
  cancelled: 'The answer was stopped before the call started. The tool has not run.',
}

/**
 * The part as a provider gets it: a call has its `output`, or an `error` whose message is what a model is told. Model servers
 * refuse calls without results.
 */
export function withResult(part: GivenPart): GivenPart {
  if (part.type !== 'tool' || part.output !== undefined) return part
  return { ...part, error: { code: part.error?.code ?? part.state, message: sentenceFor(part) } }
}

/** A failure has its own reason; of other states the sentence is said in any case, and a reason after it. */
function sentenceFor({ state, error }: Extract<GivenPart, { type: 'tool' }>): string {
  const sentence = SENTENCES[state]
  if (!error?.message || error.message.startsWith(sentence)) return error?.message || sentence
  return state === 'failed' ? error.message : `${sentence} ${error.message}`
}
