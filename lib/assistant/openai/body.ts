import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { readAtMost, readText } from '../../core/body.ts'
import { createLineReader } from '../../core/sse-format.ts'

type Body = ReadableStream<Uint8Array> | null

/** Far above any chunk of an answer; a server that sends no line break must not fill the memory. */
const MAX_LENGTH = 1024 * 1024

/**
 * The lines of a body as they arrive. As in any event stream, an unfinished last line is dropped. Leaving the loop early
 * closes the connection.
 *
 * @throws AnswerFailure `connection_lost`, or `invalid_answer` for a line longer than a mebibyte
 */
export async function* readLines(body: Body, signal?: AbortSignal): AsyncGenerator<string> {
  const read = createLineReader(MAX_LENGTH)
  try {
    for await (const text of readText(body, signal)) yield* read(text)
  } catch (error) {
    if (error instanceof RangeError) throw new AnswerFailure('invalid_answer', 'a line has no end')
    throw new AnswerFailure('connection_lost', connectionError(error))
  }
}

/**
 * All of a short body, or the first mebibyte of a long one.
 *
 * @throws AnswerFailure `connection_lost`
 */
export async function readWhole(body: Body, signal?: AbortSignal): Promise<string> {
  const { bytes } = await readAtMost(body, MAX_LENGTH, signal).catch((error: unknown) => {
    throw new AnswerFailure('connection_lost', connectionError(error))
  })
  return new TextDecoder().decode(bytes)
}

/** Why a connection failed. The message of `fetch` itself has no reason, and its error may contain what was sent. */
export function connectionError(error: unknown): string {
  const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
  // After attempts at several addresses the error has no message.
  return cause?.message || cause?.code || message
}

/** Whether no server has taken the connection. */
export function isRefused(error: unknown): boolean {
  return (error as { cause?: NodeJS.ErrnoException }).cause?.code === 'ECONNREFUSED'
}
