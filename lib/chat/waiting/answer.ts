import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { createThrottle } from '../../core/scheduling/throttle.ts'
import { bind, parseKnown } from '../../core/use-case.ts'
import type { EventRow } from '../../live/log/log.ts'
import { createVisit } from '../feed/visit.ts'
import type { Message } from '../messages/schema.ts'
import { get } from '../messages/service.ts'
import type { WaitSignals } from './messages.ts'
import { AnswerAwaited } from './schema.ts'

/** What `chat.answers.wait` takes. */
export interface WaitForAnswer extends WaitSignals {
  /** How long to wait for its end. Default: 0; maximum: 55. */
  seconds?: number
  /** Is called with the number of chunks that are stored, when there are more, up to four times a second. */
  onProgress?: (chunks: number) => void
}

/** The least time between two notes of progress. */
const PROGRESS_MS = 250

/**
 * An answer of the assistant as it is, once it has ended, or after some seconds. A call that waits counts as a stream of the
 * user, and ends as streams do. The answer goes on without it.
 *
 * @throws ChatError `validation_failed`; `not_found`, also when it can no longer be read; `too_many_streams`; `unavailable`;
 *   `unauthenticated` when the session or key of the actor ends
 */
export async function wait(
  ctx: Context,
  actor: Actor,
  messageId: string,
  options: WaitForAnswer = {},
): Promise<Message> {
  const { signal, onHeartbeat, onProgress, ...input } = Object(options) as WaitForAnswer
  const { seconds } = parseKnown(AnswerAwaited, input)
  const read = () => bind(ctx, get)(actor, messageId)
  let message = await read()
  if (seconds === 0 || !isUnderWay(message)) return message
  const visit = createVisit(ctx, actor, { signal, onHeartbeat })
  await visit.enter()
  const progress = createProgress(onProgress)
  try {
    const reader = { user_id: actor.user_id, is_system: actor.system !== undefined }
    const wants = (row: EventRow) => row.message_id === messageId && !progress.takes(row)
    while (isUnderWay(message) && (await visit.wait({ ...reader, wants, ms: seconds * 1000 }))) message = await read()
    await visit.assertAllowed()
    return await read()
  } finally {
    await progress.end()
    visit.leave()
  }
}

/** Notes how many chunks are stored, without reading them. */
function createProgress(onProgress: WaitForAnswer['onProgress']) {
  let stored = 0
  let told = 0
  const throttle = createThrottle(PROGRESS_MS, async () => {
    if (stored > told) onProgress?.(stored)
    told = stored
  })
  return {
    /** Takes an event that stores a chunk. @returns false for any other */
    takes({ type, detail }: EventRow): boolean {
      if (type !== 'message.delta' && type !== 'message.part') return false
      const { idx } = JSON.parse(detail ?? '{}') as { idx?: number }
      if (idx !== undefined) stored = Math.max(stored, idx + 1)
      if (onProgress) throttle.ask()
      return true
    },
    end: throttle.close,
  }
}
