import { formatEvent } from '../../core/sse-format.ts'
import type { AnswerFrames } from '../../protocols/rows/framing.ts'
import { type Answered, lastEventOf, type Progress, toResponse } from './rules.ts'
import { createItems, type FileUrl, type Unnumbered } from './rules-items.ts'

/** How a response is streamed. */
export interface ResponseFramesOptions {
  answered: Omit<Answered, 'message'>
  /** The number of the last event that the client has. Default: none. */
  starting_after?: number | undefined
  toFileUrl: FileUrl
}

/** Writes one segment of an answer as the events of a response, numbered from 0: the numbers are the same in every stream. */
export function createResponseFrames(
  message: Answered['message'],
  { answered, starting_after = -1, toFileUrl }: ResponseFramesOptions,
): AnswerFrames {
  const items = createItems(message.id, toFileUrl)
  let number = -1

  function write(events: Unnumbered[]): string {
    let text = ''
    for (const event of events) {
      number++
      if (number > starting_after)
        text += formatEvent({ type: event.type, data: JSON.stringify({ ...event, sequence_number: number }) })
    }
    return text
  }

  // The metadata of the message are the question's until its end: a provider may replace them, and no row has what they were.
  const unfinished = { ...message, metadata: {} }

  function finish(progress: Progress, ended: Answered['message']): string {
    const closed = items.close()
    const response = toResponse({ ...answered, message: ended }, progress, items.list())
    return write([...closed, { type: lastEventOf(response.status), response }])
  }

  return {
    begin() {
      const response = toResponse({ ...answered, message: unfinished }, 'under_way', [])
      return write([
        { type: 'response.created', response },
        { type: 'response.in_progress', response },
      ])
    },
    row: (step) => write(items.take(step)),
    wait: () => finish('waiting', unfinished),
    end: (ended) => finish('ended', ended),
    save: () => ({ number, items: items.save() }),
    restore(saved) {
      const before = saved as { number: number; items: unknown }
      number = before.number
      items.restore(before.items)
    },
  }
}
