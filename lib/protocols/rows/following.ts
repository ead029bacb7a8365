import type { PartChange } from '../../chat/answers/schema-parts.ts'
import {
  MAX_ROWS,
  readRows,
  type Written,
  type WrittenPage,
  type WrittenPiece,
} from '../../chat/answers/service-rows.ts'
import { type Opening, openPaced, type SendPart, type StreamPlace } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import type { Delivered } from '../../live/readers/delivery.ts'
import type { Sink } from '../../live/readers/reader.ts'
import type { Protocol } from '../../metrics/protocols.ts'
import type { Micros } from '../../storage/sql.ts'
import { type CallPart, createAnswerSteps, type RowStep } from './rules.ts'

/** Writes an answer as the frames of one protocol: text in the event stream format, empty where the protocol has nothing. */
export interface AnswerFrames {
  /** Before the first row. */
  begin(message: Written): string
  row(step: RowStep): string
  /** At the end of a segment. @param calls those that wait @param last the number of its last row */
  wait(calls: readonly CallPart[], last: number): string | Promise<string>
  end(message: Written): string
}

/**
 * The rows that a stream has: `all`, which ends where the answer waits now, and passes over earlier waits; or the segment behind
 * the row of a number, which ends at its own wait.
 */
export type Span = 'all' | { after: number }

/** An answer as the frames of one protocol. */
export interface AnswerStreamOptions {
  protocol: Protocol
  /** The headers of the stream, besides those of every event stream. */
  headers?: Opening['headers']
  /** Default: `all`. */
  span?: Span
  /** A place that was taken before. */
  place?: StreamPlace | undefined
  /** Writes the frames of one stream. */
  frames: (message: Written) => AnswerFrames
}

/**
 * Reserves a place on the stream of an answer: its rows so far, then those that follow, up to its end or to that of a segment.
 * It counts as an event stream of the actor, is bounded as one, and ends as one. What ends before its last frame is broken off.
 *
 * @throws ChatError `not_found`; `too_many_streams`; `unavailable` while the service drains
 */
export async function openAnswer(
  ctx: Context,
  actor: Actor,
  messageId: string,
  { protocol, headers = [], span = 'all', place: held, frames }: AnswerStreamOptions,
): Promise<Opening> {
  const { message } = await readRows.run(ctx, actor, messageId, { from: 0, limit: 0 })
  const opening = await openPaced(ctx, actor, message.conversation_id, held)
  return {
    headers,
    connect(sink) {
      const over = ctx.metrics.protocolStream(protocol)
      const read = (from: number) => readRows.run(ctx, actor, messageId, { from, limit: MAX_ROWS })
      const warn = (error: unknown) =>
        ctx.log.warn('The stream of an answer was broken off', { cause: causeText(error) })
      const after = span === 'all' ? undefined : span.after
      const reading = createReading({ message, after, read, over, warn }, sink, frames(message))
      const place = opening.connect(reading.sink, reading.follow)
      reading.onOver(place.leave)
      return place.leave
    },
    cancel: opening.cancel,
  }
}

interface ReadingDeps {
  message: Written
  /** The number of the row behind which the segment begins; `undefined` for all rows. */
  after: number | undefined
  read(from: number): Promise<WrittenPage>
  /** Called once when the stream ends. */
  over(): void
  warn(error: unknown): void
}

/** What passes from the rows of an answer to the sink of one stream. */
function createReading(deps: ReadingDeps, sink: Sink, frames: AnswerFrames) {
  const { message, read, over, warn } = deps
  const segment = createSegment(deps.after, frames)
  /** While rows are read from the database, events only say that there are more of them. */
  let state: 'reading' | 'stale' | 'live' | 'over' = 'reading'
  let ended: Written | undefined
  let failure: Written['failure']
  const place = createPlace()

  function write(text: string): void {
    if (text !== '') sink.write({ bytes: Buffer.from(text), events: [] })
  }

  function finish(text: string): void {
    write(text)
    state = 'over'
    sink.end()
    place.leave()
    over()
  }

  function breakOff(): void {
    if (state === 'over') return
    state = 'over'
    if (sink.abort) sink.abort()
    else sink.end()
    place.leave()
    over()
  }

  /** Reads a page, and writes it. @returns whether it is the last for now */
  async function readPage(): Promise<boolean> {
    const page = await read(segment.from())
    if (isOver()) return true
    const { text, isOver: isEnd } = await segment.page(page)
    if (isOver()) return true
    if (isEnd) finish(text)
    else write(text)
    return isEnd || page.is_whole
  }

  const isOver = () => state === 'over'

  async function catchUp(): Promise<void> {
    try {
      for (;;) {
        state = 'reading'
        let isLast = false
        const isHere = await place.send(async () => {
          isLast = await readPage()
        })
        if (isOver()) return
        if (!isHere) return breakOff()
        // Nothing is awaited between the last look and the first live event.
        if (isLast && state === 'reading') break
      }
      state = 'live'
    } catch (error) {
      // Deleted with its text: its stream ends as that of a cancelled one.
      if (ended && error instanceof ChatError && error.code === 'not_found') return finish(frames.end(ended))
      warn(error)
      breakOff()
    }
  }

  function take({ event }: Delivered): void {
    if (event.type === 'message.failed' && event.payload.message_id === message.id) failure = event.payload.code
    if (event.type === 'message.done' && event.payload.message_id === message.id) {
      const { finish_reason } = event.payload
      ended = failure ? { ...message, status: 'failed', failure } : { ...message, status: 'cancelled', finish_reason }
      stale()
      return
    }
    const row = rowIn(event, message.id)
    if (!row) return
    if (state !== 'live' || !segment.isNext(row.idx)) stale()
    else {
      write(segment.live(row))
      // Whether its transaction has more rows is not in the event.
      if (segment.isWaiting()) stale()
    }
  }

  function stale(): void {
    if (state === 'live') void catchUp()
    else if (state === 'reading') state = 'stale'
  }

  return {
    /** @param leave gives the place of the stream back, once it has ended */
    onOver(leave: () => void): void {
      place.leave = leave
      if (isOver()) leave()
    },
    follow(part: SendPart): Promise<void> {
      place.send = part
      write(frames.begin(message))
      return catchUp()
    },
    sink: {
      ...sink,
      write(delivery) {
        if (isOver()) return
        // Heartbeats.
        if (delivery.events.length === 0) sink.write(delivery)
        for (const event of delivery.events) take(event)
      },
      // A page of rows is no sign of a slow reader: the next one waits until it is read.
      pending: () => (state === 'live' ? sink.pending() : 0),
      end: breakOff,
    } satisfies Sink,
  }
}

/** What a stream gets when it is connected. */
function createPlace(): { send: SendPart; leave: () => void } {
  return { send: async () => false, leave: () => {} }
}

/** The rows of one stream on their way to frames. */
function createSegment(after: number | undefined, frames: AnswerFrames) {
  const steps = createAnswerSteps()
  /** The instant of the last row, if it was read from the database. */
  let last_at: Micros | undefined

  function frameOf({ idx, row }: Pick<WrittenPiece, 'idx' | 'row'>): string {
    const step = steps.next({ idx, row })
    return step && idx > (after ?? -1) ? frames.row(step) : ''
  }

  /** Whether the segment has ended before this row. Waits before the segment, and all of a whole answer, are over. */
  function isEndBefore({ idx, at }: WrittenPiece): boolean {
    return after !== undefined && idx > after + 1 && steps.isWaiting() && at !== last_at
  }

  const wait = async (text: string) => ({
    text: text + (await frames.wait(steps.waitingCalls(), steps.next_idx() - 1)),
    isOver: true,
  })

  return {
    isWaiting: steps.isWaiting,
    isNext: (idx: number) => idx === steps.next_idx(),
    /** The number of the next row to read: of the last one again, if its instant is needed. */
    from: () => (steps.isWaiting() && last_at === undefined ? steps.next_idx() - 1 : steps.next_idx()),

    live(row: { idx: number; row: string | PartChange }): string {
      last_at = undefined
      return frameOf(row)
    },

    /** The frames of a page. @returns `isOver` with the end of the segment, or of the answer */
    async page({ message, rows, is_whole }: WrittenPage): Promise<{ text: string; isOver: boolean }> {
      let text = ''
      for (const row of rows) {
        if (row.idx < steps.next_idx()) last_at = row.at
        else {
          if (isEndBefore(row)) return wait(text)
          text += frameOf(row)
          last_at = row.at
        }
      }
      if (!is_whole) return { text, isOver: false }
      if (!isUnderWay(message)) return { text: text + frames.end(message), isOver: true }
      if (message.status !== 'waiting') return { text, isOver: false }
      return wait(text)
    },
  }
}

/** The row of an event, if it is one of this message. */
function rowIn(event: Delivered['event'], messageId: string): { idx: number; row: string | PartChange } | undefined {
  if (event.type === 'message.part' && event.payload.message_id === messageId)
    return { idx: event.payload.idx, row: event.payload.part }
  if (event.type !== 'message.delta' || event.payload.message_id !== messageId) return undefined
  const { id, choices } = event.payload
  return { idx: Number(id.slice(id.indexOf(':') + 1)), row: choices[0]!.delta.content }
}
