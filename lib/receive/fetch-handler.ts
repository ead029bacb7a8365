import type { ReceiveAnswer } from './receiver.ts'
import { parsedBefore, type WebhookHeaders } from './verify-webhook.ts'

/** More than a webhook sends, whatever `webhooks.max_bytes` is. */
export const MAX_BODY_BYTES = 1024 * 1024

/** Receives a call: its headers, and its bytes. */
export type Receive = (headers: WebhookHeaders, body: unknown) => Promise<ReceiveAnswer>

/** Answers for an error. */
export type Refuse = (error: unknown) => ReceiveAnswer

const TOO_LONG: ReceiveAnswer = { status: 413, body: { code: 'malformed', message: 'The body is too long' } }

/** The answer to a call of another method. */
export const NOT_POST: ReceiveAnswer = { status: 405, body: { code: 'malformed', message: 'Webhooks come by POST' } }

/** The bytes of a body; an answer if there are too many of them. */
export async function readBounded(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array | ReceiveAnswer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of chunks) {
    size += part.length
    if (size > MAX_BODY_BYTES) return TOO_LONG
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** For servers with `Request` and `Response`. */
export function createFetchHandler(receive: Receive, refuse: Refuse): (request: Request) => Promise<Response> {
  async function answer(request: Request): Promise<ReceiveAnswer> {
    if (request.method !== 'POST') return NOT_POST
    if (request.bodyUsed) return refuse(parsedBefore())
    try {
      const body = await readBounded((request.body ?? []) as unknown as AsyncIterable<Uint8Array>)
      return 'status' in body ? body : await receive(request.headers, body)
    } catch (error) {
      return refuse(error)
    }
  }

  return async (request) => {
    const { status, body } = await answer(request)
    return Response.json(body, { status })
  }
}
