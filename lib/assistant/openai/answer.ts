import { setImmediate as nextTurn } from 'node:timers/promises'
import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import type { Usage } from '../../chat/answers/schema.ts'
import type { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { isVisible } from '../../core/characters.ts'
import { isStorable } from '../../core/schema.ts'
import { wholeLength } from '../../core/whole-text.ts'
import { type AskedCall, toAskedCall } from '../asked-calls.ts'
import { type CheckedFile, type CheckedPart, isPart, toPiece } from '../pieces.ts'
import type { AnswerPiece } from '../provider.ts'

/** How long chunks are read before other work gets a turn. */
const TURN_MS = 10

/** How many calls of one step are kept: more than the service runs. */
const MAX_CALLS = 64

/** What precedes the first text of a later step, if earlier ones have text. */
const BETWEEN_STEPS = '\n\n'

/** What is known of an answer when it is complete. */
export interface WholeAnswer {
  finish_reason: string
  usage?: Usage | undefined
  /** Replaces that of the question. */
  metadata?: Metadata | undefined
  /** The calls of tools that the provider asks for, in their order. */
  calls: AskedCall[]
}

/** What bounds an answer. */
export interface Bounds {
  signal: AbortSignal
  /** The maximum size of the text, in bytes of UTF-8. */
  answer_bytes: number
  /** The size of the text that earlier steps have written. */
  written_bytes?: number
}

/**
 * Reads an answer to its end and passes on its text, never half a surrogate pair.
 *
 * @param pieces from a provider: may be invalid in any way, endless, or ignore `signal`
 * @param take called with each chunk of text, never an empty one unless its provider keeps data with it
 * @param takeFile stores a file; no other chunk is read before
 * @param takePart called with each chunk that is no text, in the order of all
 * @throws AnswerFailure `invalid_answer`, `empty_answer`, `answer_too_long`; what the provider throws; the reason of
 *   `signal` once it aborts
 */
export async function readAnswer(
  pieces: AsyncIterable<AnswerPiece>,
  { signal, answer_bytes, written_bytes = 0 }: Bounds,
  take: (text: string, provider_data?: string) => void,
  takePart: (part: CheckedPart) => void = () => {},
  takeFile: (file: CheckedFile) => Promise<void> = async () => {},
): Promise<WholeAnswer> {
  const answer: WholeAnswer = { finish_reason: 'stop', calls: [] }
  let half = ''
  let room = answer_bytes - written_bytes
  let isFirst = written_bytes > 0 // text of this step, with text before it
  let isSeen = false
  for await (const piece of abortable(pieces, signal)) {
    const checked = toPiece(piece)
    if (isPart(checked)) {
      takePart(checked)
      isSeen ||= 'data' in checked
      continue
    }
    if ('tool_call' in checked) {
      if (answer.calls.length < MAX_CALLS) answer.calls.push(toAskedCall(checked))
      isSeen = true
      continue
    }
    if ('file' in checked) {
      await takeFile(checked)
      isSeen = true
      continue
    }
    const { delta = '', usage, finish_reason, metadata, provider_data } = checked
    answer.usage = usage ?? answer.usage
    answer.metadata = metadata ?? answer.metadata
    answer.finish_reason = finish_reason ?? answer.finish_reason

    const text = half + delta
    const end = wholeLength(text)
    half = text.slice(end)
    const whole = isFirst && end > 0 ? apart(text.slice(0, end)) : text.slice(0, end)
    isFirst &&= end === 0
    if (!isStorable(whole)) throw new AnswerFailure('invalid_answer', 'text with NUL or half a character')
    room -= Buffer.byteLength(whole)
    if (room < 0) throw new AnswerFailure('answer_too_long')
    isSeen ||= isVisible(whole)
    if (whole || provider_data !== undefined) take(whole, provider_data)
  }
  if (half) throw new AnswerFailure('invalid_answer', 'text with half a character at its end')
  if (!isSeen) throw new AnswerFailure('empty_answer')
  return answer
}

/** The first text of a step, apart from what precedes it. */
const apart = (text: string) => (text.startsWith(BETWEEN_STEPS) ? text : BETWEEN_STEPS + text)

/** Passes chunks on until `signal` aborts: then it throws the reason, even if the source ignores the signal. */
async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  let isOver = false
  let turn = performance.now()
  try {
    for (;;) {
      // A source that never waits would block the event loop, and even its own timeout.
      if (performance.now() - turn > TURN_MS) {
        await nextTurn()
        turn = performance.now()
      }
      const { value, done } = await unlessAborted(iterator.next(), signal)
      if (done) break
      yield value
    }
    isOver = true
  } finally {
    // Not awaited: a source that hangs would hang here, too.
    if (!isOver) void leave(iterator)
  }
}

async function leave(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.()
  } catch {
    // The result is not needed any more.
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
