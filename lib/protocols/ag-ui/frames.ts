import type { Written } from '../../chat/answers/service-rows.ts'
import type { Opening } from '../../chat/events/service.ts'
import { formatEvent } from '../../core/sse-format.ts'
import type { AnswerFrames } from '../rows/framing.ts'
import {
  createEventWriter,
  type Run,
  type Snapshot,
  toEnd,
  toInterrupt,
  toRunStarted,
  toSnapshotEvent,
} from './rules.ts'
import type { UrlOf } from './rules-parts.ts'
import type { AgUiEvent } from './schema-events.ts'

/** How an answer is streamed to a client of AG-UI. */
export interface EventOptions {
  run: Run
  urlOf: UrlOf
  /** Gives the messages before the answer, once, for a client that has none: a stream does not keep them. */
  takeBefore(): Snapshot | undefined
  /** The messages at a wait, which is behind the row of this number. */
  waiting(row: number): Promise<Snapshot>
}

/** The events of an answer as text. */
export function createAgUiFrames(message: Written, { run, urlOf, takeBefore, waiting }: EventOptions): AnswerFrames {
  const { row, close, save, restore } = createEventWriter(message.id, urlOf)
  return {
    begin: () => {
      const before = takeBefore()
      return toText([toRunStarted(run, message), ...(before ? [toSnapshotEvent(before)] : [])])
    },
    row: (step) => toText(row(step)),
    wait: async (calls, last) => {
      const snapshot = await waiting(last)
      return toText([...close(), toSnapshotEvent(snapshot), toInterrupt(run, calls)])
    },
    end: (ended) => toText([...close(), toEnd(run, ended)]),
    save,
    restore,
  }
}

const toText = (events: readonly AgUiEvent[]) =>
  events.map((event) => formatEvent({ data: JSON.stringify(event) })).join('')

/** A stream of these events alone. */
export function openEvents(events: readonly AgUiEvent[]): Opening {
  return {
    headers: [],
    connect(sink) {
      sink.write({ bytes: Buffer.from(toText(events)), events: [] })
      sink.end()
      return () => {}
    },
    cancel: () => {},
  }
}
