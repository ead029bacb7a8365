import { MAX_ROWS, readRows, type Written, type WrittenPiece } from '../../chat/answers/service-rows.ts'
import type { StreamPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import type { Protocol } from '../../metrics/protocols.ts'
import { openAnswer } from './following.ts'
import type { Span } from './framing.ts'
import { createAnswerSteps, findDecisions, listSegmentEnds, type RowStep } from './rules.ts'

/** Rows of an answer between two waits for participants. */
export interface Segment {
  /** The number of the row before its first. */
  after: number
  steps: RowStep[]
  /** The calls that wait at its end. Without any, it goes on, or has ended with the answer. */
  waiting: string[]
}

/** An answer so far. */
export interface ReadAnswer {
  message: Written
  rows: WrittenPiece[]
  segments: Segment[]
}

/**
 * Reads an answer by its segments: at least one, and behind each wait that is over the next.
 *
 * @throws ChatError `not_found`, as `readRows`
 */
export async function readSegments(ctx: Context, actor: Actor, messageId: string): Promise<ReadAnswer> {
  const { message, rows } = await readAllRows(ctx, actor, messageId)
  return { message, rows, segments: toSegments(message, rows) }
}

/**
 * An answer with all its rows.
 *
 * @param before the first rows, if they were read before: rows never change
 * @throws ChatError `not_found`
 */
export async function readAllRows(
  ctx: Context,
  actor: Actor,
  messageId: string,
  before: readonly WrittenPiece[] = [],
): Promise<Omit<ReadAnswer, 'segments'>> {
  const rows = [...before]
  for (;;) {
    const page = await readRows.run(ctx, actor, messageId, { from: rows.length, limit: MAX_ROWS })
    rows.push(...page.rows)
    if (page.is_whole || page.rows.length === 0) return { message: page.message, rows }
  }
}

function toSegments(message: Written, rows: readonly WrittenPiece[]): Segment[] {
  const ends = new Set(listSegmentEnds(rows))
  const steps = createAnswerSteps()
  const segments: Segment[] = [{ after: -1, steps: [], waiting: [] }]
  for (const row of rows) {
    const last = segments.at(-1)!
    const step = steps.next(row)
    if (step) last.steps.push(step)
    if (!ends.has(row.idx)) continue
    last.waiting = steps.waitingCalls().map(({ call_id }) => call_id)
    if (row !== rows.at(-1) || message.status !== 'waiting') segments.push({ after: row.idx, steps: [], waiting: [] })
  }
  return segments
}

/** The number, from 1, of the segment in which these calls are decided; while none is, of the one that waits for them. */
export function segmentAfter({ rows, segments }: ReadAnswer, callIds: ReadonlySet<string>): number {
  const { last_end } = findDecisions(rows, callIds)
  const next = segments.findIndex(({ after }) => after === last_end)
  return next < 0 ? segments.length : next + 1
}

/** Whether nothing more follows in a segment. */
export function hasEnded({ message, segments }: ReadAnswer, segment: number): boolean {
  return segment < segments.length || message.status === 'waiting' || !isUnderWay(message)
}

/** How the end of an answer is waited for. */
interface WaitOptions {
  protocol: Protocol
  span?: Span
  place?: StreamPlace | undefined
  /** Ends the waiting; then it fails with the reason of the signal. */
  signal?: AbortSignal | undefined
}

/**
 * Waits for the end of an answer, or of a segment of it. It counts as a stream of the actor.
 *
 * @throws ChatError `not_found`; `too_many_streams`; `unavailable` when the service drains, or the actor may not read on
 */
export async function waitForEnd(
  ctx: Context,
  actor: Actor,
  messageId: string,
  { protocol, span, place, signal }: WaitOptions,
): Promise<void> {
  const opening = await openAnswer(ctx, actor, messageId, {
    protocol,
    ...(span && { span }),
    place,
    frames: () => SILENT,
  })
  if (signal?.aborted) {
    opening.cancel()
    throw signal.reason
  }
  await new Promise<void>((resolve, reject) => {
    const leave = opening.connect({
      write: () => undefined,
      pending: () => 0,
      drained: async () => undefined,
      end: resolve,
      abort: () => reject(new ChatError('unavailable')),
    })
    signal?.addEventListener('abort', () => {
      leave()
      reject(signal.reason)
    })
  })
}

const SILENT = { begin: () => '', row: () => '', wait: () => '', end: () => '' }
