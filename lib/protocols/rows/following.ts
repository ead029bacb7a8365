import type { PartChange } from '../../chat/answers/schema-parts.ts'
import {
  assertReads,
  lookAtWritten,
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
import type { Delivered } from '../../live/readers/delivery.ts'
import type { Sink } from '../../live/readers/reader.ts'
import type { Protocol } from '../../metrics/protocols.ts'
import { type AnswerFrames, createFraming, type Span } from './framing.ts'
import { type SharedPage, type SharingStreams, sharedPagesOf } from './shared-pages.ts'

/** How many bytes of rendered pages a stream is sent before it is looked again whether it may have more. */
const MAX_AT_ONCE = 256 * 1024

/** An answer as the frames of one protocol. */
export interface AnswerStreamOptions {
  protocol: Protocol
  /** The headers of the stream, besides those of every event stream. */
  headers?: Opening['headers']
  /** Default: `all`. */
  span?: Span
  /** A place that was taken before. */
  place?: StreamPlace | undefined
  /** The rows so far, from the first one on, if they were read before. They are not kept. */
  rows?: readonly WrittenPiece[] | undefined
  /** Streams with the same word get the same frames of the same rows; without one, none are shared. */
  shared_as?: string
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
  { protocol, headers = [], span = 'all', place: held, rows, shared_as, frames }: AnswerStreamOptions,
): Promise<Opening> {
  const { message } = await readRows.run(ctx, actor, messageId, { from: 0, limit: 0 })
  const opening = await openPaced(ctx, actor, message.conversation_id, held)
  const read = createPages(message, rows, (from) => readRows.run(ctx, actor, messageId, { from, limit: MAX_ROWS }))
  const key = JSON.stringify([messageId, shared_as, span])
  // A value, not the rows: the function stays as long as the stream.
  const isShared = shared_as !== undefined && !rows
  const join = () => (isShared ? sharedPagesOf(ctx.streams.hub)(key, () => lookAtWritten(ctx, messageId)) : undefined)
  return {
    headers,
    connect(sink) {
      const over = ctx.metrics.protocolStream(protocol)
      const warn = (error: unknown) =>
        ctx.log.warn('The stream of an answer was broken off', { cause: causeText(error) })
      const mayRead = () => assertReads(ctx, actor, message.conversation_id)
      const reading = createReading({ message, span, read, mayRead, join, over, warn }, sink, frames(message))
      const place = opening.connect(reading.sink, reading.follow)
      reading.onOver(place.leave)
      return place.leave
    },
    cancel: opening.cancel,
  }
}

/** Reads a page of rows, from a number on. */
type ReadPage = (from: number) => Promise<WrittenPage>

/** The pages of one stream: first the rows that were read before, if any were. */
function createPages(message: Written, before: readonly WrittenPiece[] = [], read: ReadPage): ReadPage {
  let first = before
  return (from) => {
    if (first.length === 0) return read(from)
    const rows = [...first]
    first = []
    return Promise.resolve({ message, rows, is_whole: false })
  }
}

interface ReadingDeps {
  message: Written
  span: Span
  read: ReadPage
  /** @throws ChatError `not_found` once its reader may have nothing of it */
  mayRead(): Promise<void>
  /** Joins the streams with the same frames, to catch up. */
  join(): SharingStreams | undefined
  /** Called once when the stream ends. */
  over(): void
  warn(error: unknown): void
}

/** What passes from the rows of an answer to the sink of one stream. */
function createReading(deps: ReadingDeps, sink: Sink, frames: AnswerFrames) {
  const { message, read, mayRead, join, over, warn } = deps
  const framing = createFraming(deps.span, frames)
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

  /** Writes the next page. @returns whether it is the last for now */
  async function nextPage(group: SharingStreams | undefined): Promise<boolean> {
    const page = await group?.find(framing.from())
    if (isOver()) return true
    const isTaken = group !== undefined && page !== undefined && (await takePages(page, group))
    return isOver() || (!isTaken && (await readPage(group)))
  }

  /** Writes a page of another stream, and those behind it that are rendered. @returns false if the rows are not as they were then */
  async function takePages(first: SharedPage, group: SharingStreams): Promise<boolean> {
    const pages = pagesFrom(first, group)
    // Afterwards, as what was rendered since a reader has lost the right may not be sent.
    const [{ message: present, is_edited }] = await Promise.all([group.look(), mayRead()])
    if (is_edited || isOver()) return false
    for (const page of pages) sendPage(page)
    if (first.is_end) finish(framing.end(present))
    return true
  }

  /** A page, and those behind it that are rendered; not the end, which may be later than the look that tells how it ended. */
  function pagesFrom(first: SharedPage, group: SharingStreams): SharedPage[] {
    const pages = [first]
    let size = first.bytes.length
    for (let page = group.kept(first.next); page && !page.is_end && size < MAX_AT_ONCE; page = group.kept(page.next)) {
      pages.push(page)
      size += page.bytes.length
    }
    return pages
  }

  function sendPage(page: SharedPage): void {
    framing.take(page)
    if (page.bytes.length > 0) sink.write({ bytes: page.bytes, events: [] })
  }

  /** Reads a page, and writes it. @returns whether it is the last for now */
  async function readPage(group: SharingStreams | undefined): Promise<boolean> {
    const settle = group?.begin(framing.from())
    let shared: SharedPage | undefined
    try {
      const page = await read(framing.from())
      if (isOver()) return true
      const { text, ends } = framing.page(page)
      const bytes = Buffer.from(text)
      const saved = settle && ends !== 'wait' && (ends === 'end' || !page.is_whole) ? framing.save() : undefined
      shared = saved && { ...saved, bytes, is_end: ends === 'end' }
      if (bytes.length > 0) sink.write({ bytes, events: [] })
      if (ends === undefined) return page.is_whole
      const last = ends === 'end' ? framing.end(page.message) : await framing.wait()
      if (!isOver()) finish(last)
      return true
    } finally {
      settle?.(shared)
    }
  }

  const isOver = () => state === 'over'

  async function catchUp(): Promise<void> {
    const group = join()
    try {
      for (;;) {
        state = 'reading'
        let isLast = false
        const isHere = await place.send(async () => {
          isLast = await nextPage(group)
        })
        if (isOver()) return
        if (!isHere) return breakOff()
        // Nothing is awaited between the last look and the first live event.
        if (isLast && state === 'reading') break
      }
      state = 'live'
    } catch (error) {
      // Deleted with its text: its stream ends as that of a cancelled one.
      if (ended && error instanceof ChatError && error.code === 'not_found') return finish(framing.end(ended))
      warn(error)
      breakOff()
    } finally {
      group?.leave()
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
    if (state !== 'live' || !framing.isNext(row.idx)) stale()
    else {
      write(framing.live(row))
      // Whether its transaction has more rows is not in the event.
      if (framing.isWaiting()) stale()
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

/** The row of an event, if it is one of this message. */
function rowIn(event: Delivered['event'], messageId: string): { idx: number; row: string | PartChange } | undefined {
  if (event.type === 'message.part' && event.payload.message_id === messageId)
    return { idx: event.payload.idx, row: event.payload.part }
  if (event.type !== 'message.delta' || event.payload.message_id !== messageId) return undefined
  const { id, choices } = event.payload
  return { idx: Number(id.slice(id.indexOf(':') + 1)), row: choices[0]!.delta.content }
}
