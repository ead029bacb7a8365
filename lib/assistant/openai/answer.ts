import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import { AnswerFailure } from '../../chat/answers/failure.ts'
import { wholeLength } from '../../chat/answers/rules.ts'
import { Usage } from '../../chat/answers/schema.ts'
import { isVisible } from '../../core/characters.ts'
import { isStorable } from '../../core/schema.ts'
import type { AnswerPiece } from '../provider.ts'

/** How long pieces are read without letting others have their turn. */
const TURN_MS = 10

/** What is known of an answer once it is whole. */
export interface WholeAnswer {
  finish_reason: string
  usage?: Usage | undefined
}

const Piece = v.union([
  v.string(),
  v.object({
    delta: v.optional(v.string()),
    usage: v.optional(Usage),
    // The last three are for us to say: of an answer that is not whole.
    finish_reason: v.optional(v.pipe(v.string(), v.regex(/^(?!(cancelled|failed|interrupted)$)[\w-]{1,64}$/))),
  }),
])

/**
 * Reads an answer to its end and hands on its text, character by whole character.
 *
 * @param pieces whatever a provider gives: it may be wrong in any way, endless, or deaf to `signal`
 * @param take is called with each piece of text, never an empty one
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

function toPiece(given: unknown): Exclude<v.InferOutput<typeof Piece>, string> {
  const piece = v.safeParse(Piece, given)
  // An array would pass for an object without any of its keys.
  if (!piece.success || Array.isArray(given)) throw new AnswerFailure('invalid_answer', 'no piece of an answer')
  return typeof piece.output === 'string' ? { delta: piece.output } : piece.output
}

/** The same pieces, until `signal` aborts: then it throws its reason, whether the source listens or not. */
async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  let isOver = false
  let turn = performance.now()
  try {
    for (;;) {
      // A source that never waits would let nothing else happen, not even its own time-out.
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
    // Not awaited: a source that is stuck would be stuck in this, too.
    if (!isOver) leave(iterator)
  }
}

async function leave(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.()
  } catch {
    // Nobody wants to know any more.
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
