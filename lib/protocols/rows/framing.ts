import type { PartChange } from '../../chat/answers/schema-parts.ts'
import type { Written, WrittenPage, WrittenPiece } from '../../chat/answers/service-rows.ts'
import { isUnderWay } from '../../core/message-status.ts'
import type { Micros } from '../../storage/sql.ts'
import { type CallPart, createAnswerSteps, type RowStep } from './rules.ts'
import type { SharedPage } from './shared-pages.ts'

/** Writes an answer as the frames of one protocol: text in the event stream format, empty where the protocol has nothing. */
export interface AnswerFrames {
  /** Before the first row. */
  begin(message: Written): string
  row(step: RowStep): string
  /** At the end of a segment. @param calls those that wait @param last the number of its last row */
  wait(calls: readonly CallPart[], last: number): string | Promise<string>
  end(message: Written): string
  /** What `row` needs of the rows before: a value that does not change. Frames without it are not shared. */
  save?(): unknown
  /** Goes on where other frames of the same kind have saved. */
  restore?(saved: unknown): void
}

/**
 * The rows that a stream has: `all`, which ends where the answer waits now, and passes over earlier waits; or the segment behind
 * the row of a number, which ends at its own wait: the first one, or the first that is not before the row `until`.
 */
export type Span = 'all' | { after: number; until?: number }

/** How a page ends: where the answer waits, with the answer, or with neither. */
type PageEnd = 'wait' | 'end' | undefined

/** The rows of one stream on their way to frames. */
export function createFraming(span: Span, frames: AnswerFrames) {
  const { after, until = -1 } = span === 'all' ? { after: undefined } : span
  const steps = createAnswerSteps()
  const place: Place = { last_at: undefined, taken: undefined }

  /** Goes on behind the last page of another stream. */
  function settle(): void {
    const { taken } = place
    if (!taken) return
    place.taken = undefined
    place.last_at = taken.last_at
    steps.restore(taken.steps)
    frames.restore!(taken.frames)
  }

  function frameOf({ idx, row }: Pick<WrittenPiece, 'idx' | 'row'>): string {
    const step = steps.next({ idx, row })
    return step && idx > (after ?? -1) ? frames.row(step) : ''
  }

  /** Whether the segment has ended before this row. Waits before the segment, and all of a whole answer, are over. */
  function isEndBefore({ idx, at }: WrittenPiece): boolean {
    return after !== undefined && idx > Math.max(after + 1, until) && steps.isWaiting() && at !== place.last_at
  }

  return {
    isWaiting(): boolean {
      settle()
      return steps.isWaiting()
    },
    isNext: (idx: number) => idx === (place.taken?.next ?? steps.next_idx()),
    /** The number of the next row to read: of the last one again, if its instant is needed. */
    from(): number {
      if (place.taken) return place.taken.next
      return steps.isWaiting() && place.last_at === undefined ? steps.next_idx() - 1 : steps.next_idx()
    },

    live(row: { idx: number; row: string | PartChange }): string {
      settle()
      place.last_at = undefined
      return frameOf(row)
    },

    /** The frames of a page, and how it ends. */
    page({ message, rows, is_whole }: WrittenPage): { text: string; ends: PageEnd } {
      settle()
      let text = ''
      for (const row of rows) {
        if (row.idx < steps.next_idx()) place.last_at = row.at
        else {
          if (isEndBefore(row)) return { text, ends: 'wait' }
          text += frameOf(row)
          place.last_at = row.at
        }
      }
      if (!is_whole || message.status === 'streaming') return { text, ends: undefined }
      return { text, ends: isUnderWay(message) ? 'wait' : 'end' }
    },

    /** What another stream needs to go on here; `undefined` where frames are not shared. */
    save(): Pick<SharedPage, 'next' | 'last_at' | 'steps' | 'frames'> | undefined {
      settle()
      if (!frames.save) return undefined
      return { next: steps.next_idx(), last_at: place.last_at, steps: steps.save(), frames: frames.save() }
    },

    /** Takes the page of another stream: what it leaves is taken over once it is needed. */
    take(page: SharedPage): void {
      place.taken = page
    },

    async wait(): Promise<string> {
      settle()
      return frames.wait(steps.waitingCalls(), steps.next_idx() - 1)
    },

    end(message: Written): string {
      settle()
      return frames.end(message)
    },
  }
}

/** Where a stream is. */
interface Place {
  /** The instant of the last row, if it was read from the database. */
  last_at: Micros | undefined
  /** The page of another stream that it has sent last. */
  taken: SharedPage | undefined
}
