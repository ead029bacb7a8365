import { AnswerFailure } from '../../chat/answers/failure.ts'

type Body = ReadableStream<Uint8Array> | null

/** Far above any chunk of an answer; a server that sends no end of a line must not fill the memory. */
const MAX_LENGTH = 1024 * 1024

/**
 * The lines of a body as they come, however they end; there are empty ones between. As in any event stream, what the
 * end cuts off is no line. Leaving early hangs up.
 *
 * @throws AnswerFailure `connection_lost`, or `invalid_answer` for a line longer than a mebibyte
 */
export async function* readLines(body: Body, signal?: AbortSignal): AsyncGenerator<string> {
  let rest = ''
  for await (const text of readText(body, signal)) {
    const [first, ...more] = text.split(/[\r\n]/)
    const lines = [rest + first, ...more]
    rest = lines.pop()!
    // Before the lines go out, too: one of them may be a long one that has just ended.
    if ([rest, ...lines].some((line) => line.length > MAX_LENGTH)) {
      throw new AnswerFailure('invalid_answer', 'a line has no end')
    }
    yield* lines
  }
}

/**
 * All of a short body, or a mebibyte of a long one.
 *
 * @throws AnswerFailure `connection_lost`
 */
export async function readWhole(body: Body, signal?: AbortSignal): Promise<string> {
  let whole = ''
  for await (const text of readText(body, signal)) {
    whole += text
    if (whole.length > MAX_LENGTH) break
  }
  return whole.slice(0, MAX_LENGTH)
}

/** Why a connection failed. `fetch` itself only says that it did, and what it throws may hold what was sent. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
  // Where several addresses were tried there is no message.
  return cause?.message || cause?.code || message
}

async function* readText(body: Body, signal: AbortSignal | undefined): AsyncGenerator<string> {
  if (!body) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // By ourselves: `fetch` keeps the signal weakly, and forgets it with the request, while the body still comes.
  const leave = () => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', leave)
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error: unknown) => {
        throw new AnswerFailure('connection_lost', reasonOf(error))
      })
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }
}
