import type { IncomingMessage, ServerResponse } from 'node:http'
import { NOT_POST, type Receive, type Refuse, readBounded } from './fetch-handler.ts'
import type { ReceiveAnswer } from './receiver.ts'
import { parsedBefore } from './verify-webhook.ts'

/** A listener of `node:http`. It resolves when the answer is written. */
export type NodeReceiver = (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => Promise<void>

/** For `node:http`, and frameworks above it. */
export function createNodeHandler(receive: Receive, refuse: Refuse): NodeReceiver {
  async function answer(request: IncomingMessage & { body?: unknown }): Promise<ReceiveAnswer> {
    if (request.method !== 'POST') return NOT_POST
    // A parser that leaves the bytes is fine: express.raw().
    if (typeof request.body === 'string' || request.body instanceof Uint8Array)
      return await receive(request.headers, request.body)
    // Express 4 has an empty object as body where no parser ran.
    if (request.readableDidRead || request.readableEnded) return refuse(parsedBefore())
    try {
      const body = await readBounded(request)
      return 'status' in body ? body : await receive(request.headers, body)
    } catch (error) {
      return refuse(error)
    }
  }

  return async (request, response) => {
    const { status, body } = await answer(request)
    if (response.destroyed) return
    response.writeHead(status, { 'content-type': 'application/json', ...(status === 413 && { connection: 'close' }) })
    response.end(JSON.stringify(body))
  }
}
