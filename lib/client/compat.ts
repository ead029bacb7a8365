import type { CompatFailure } from '../openai-api/schema.ts'
import type { FailureBody } from './errors.ts'
import { readEvents } from './event-stream.ts'

/** A failure in the format of OpenAI, which the endpoints below `/v1` have, as one of the service. */
export function toProblem({ code, message, param }: CompatFailure['error']): FailureBody {
  return { code, detail: message, ...(param && { errors: [{ path: param, message }] }) }
}

/** The chunks of a streamed answer, parsed, up to its `[DONE]`. */
export async function* readPieces(bytes: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  for await (const { data } of readEvents(bytes)) {
    if (data === '[DONE]') return
    yield JSON.parse(data)
  }
}
