import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { Usage } from '../../chat/answers/schema.ts'
import { isVisible } from '../../core/characters.ts'
import { isStorable } from '../../core/schema.ts'
import { wholeLength } from '../../core/whole-text.ts'
import type { AnswerPiece } from '../provider.ts'

/** How long chunks are read before other work gets a turn. */
const TURN_MS = 10

/** What is known of an answer when it is complete. */
export interface WholeAnswer {
  finish_reason: string
  usage?: Usage | undefined
}

const Piece = v.union([
  v.string(),
  v.object({
    delta: v.optional(v.string()),
    usage: v.optional(Usage),
    // Only the service sets the last three: for an incomplete answer.
    finish_reason: v.optional(v.pipe(v.string(), v.regex(/^(?!(cancelled|failed|interrupted)$)[\w-]{1,64}$/))),
  }),
])

/**
 * Reads an answer to its end and passes on its text, never half a surrogate pair.
 *
 * @param pieces from a provider: may be invalid in any way, endless, or ignore `signal`
 * @param take called with each chunk of text, never an empty one
 * @throws AnswerFailure `invalid_answer`, `empty_answer`, `answer_too_long`; what the provider throws; the reason of
 *   `signal` once it aborts
 */
export async function readAnswer(
  pieces: AsyncIterable<AnswerPiece>,
  { signal, answer_bytes }: { signal: AbortSignal; answer_bytes: number },
  take: (text: string) => void,
): Promise<WholeAnswer> {
  const answer: WholeAnswer = { finish_reason: 'stop' }
  let half = ''
  let room = answer_bytes
  let isSeen = false
  for await (const piece of abortable(pieces, signal)) {
    const { delta = '', usage, finish_reason } = toPiece(piece)
    answer.usage = usage ?? answer.usage
    answer.finish_reason = finish_reason ?? answer.finish_reason

    const text = half + delta
    const whole = text.slice(0, wholeLength(text))
    half = text.slice(whole.length)
    if (!isStorable(whole)) throw new AnswerFailure('invalid_answer', 'text with NUL or half a character')
    room -= Buffer.byteLength(whole)
    if (room < 0) throw new AnswerFailure('answer_too_long')
    isSeen ||= isVisible(whole)
    if (whole) take(whole)
  }
  if (half) throw new AnswerFailure('invalid_answer', 'text with half a character at its end')
  if (!isSeen) throw new AnswerFailure('empty_answer')
  return answer
}

function toPiece(value: unknown): Exclude<v.InferOutput<typeof Piece>, string> {
  const piece = v.safeParse(Piece, value)
  // An array would otherwise pass as an object without keys.
  if (!piece.success || Array.isArray(value)) throw new AnswerFailure('invalid_answer', 'not a chunk of an answer')
  return typeof piece.output === 'string' ? { delta: piece.output } : piece.output
}

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
