import type { WrittenPiece } from '../../chat/answers/service-rows.ts'
import type { Opening, StreamPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { openAnswer } from '../rows/following.ts'
import type { Span } from '../rows/framing.ts'
import { readAllRows } from '../rows/segments.ts'
import { urlsOf } from '../rows/urls.ts'
import { createAgUiFrames } from './frames.ts'
import { readWaiting } from './history.ts'
import type { Run, Snapshot } from './rules.ts'
import type { AgUiRunInput } from './schema.ts'

/** A run as its events name it. */
export function toRun({ threadId, runId, protocolVersion }: AgUiRunInput): Run {
  return { thread_id: threadId, run_id: runId, is_old: (protocolVersion ?? undefined) === undefined }
}

/** What of an answer a run streams. */
export interface RunStream {
  /** The chat. */
  name: string
  run: Run
  question_ids: ReadonlyMap<string, string>
  takeBefore?: () => Snapshot | undefined
  span?: Span
  place?: StreamPlace
  /** The rows so far, if they were read before. */
  rows?: readonly WrittenPiece[]
}

/** The stream of an answer as the events of a run. @throws ChatError `not_found`; `too_many_streams`; `unavailable` */
export function streamRun(
  ctx: Context,
  actor: Actor,
  messageId: string,
  { name, run, question_ids, takeBefore = () => undefined, span = 'all', place, rows: before }: RunStream,
): Promise<Opening> {
  const urlOf = urlsOf(ctx.config)
  async function waiting(row: number): Promise<Snapshot> {
    const { rows } = await readAllRows(ctx, actor, messageId)
    return readWaiting(ctx, actor, name, { message_id: messageId, rows: rows.slice(0, row + 1), question_ids })
  }
  return openAnswer(ctx, actor, messageId, {
    protocol: 'ag_ui',
    span,
    place,
    rows: before,
    shared_as: 'ag-ui',
    frames: (message) => createAgUiFrames(message, { run, urlOf, takeBefore, waiting }),
  })
}
