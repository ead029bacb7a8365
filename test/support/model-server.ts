import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** The fields of a request that tests check. */
export interface ModelRequest {
  model: string
  messages: { role: string; content: string }[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
}

/** How the server answers a request. A handler that returns leaves the response open, for the test to continue. */
export type Behaviour = (call: ModelCall) => void

/** Streams an answer chunk by chunk, to its end. */
export function streams(...pieces: string[]): Behaviour {
  return (call) => {
    for (const piece of pieces) call.say(piece)
    call.finish()
  }
}

/** Streams these chunks, and then stalls, unless the test continues. */
export function stallsAfter(...pieces: string[]): Behaviour {
  return (call) => {
    call.begin()
    for (const piece of pieces) call.say(piece)
  }
}

/** Streams these chunks, and then closes the connection. */
export function diesAfter(...pieces: string[]): Behaviour {
  return (call) => {
    for (const piece of pieces) call.say(piece)
    call.die()
  }
}

/** Streams the same chunk again and again, until the client disconnects. */
export function streamsForEver(piece: string): Behaviour {
  return (call) => {
    // In the callback of the write: the next chunk is sent after this one has left, so that nothing accumulates here.
    const next = () => {
      if (!call.response.destroyed) call.say(piece, next)
    }
    next()
  }
}

/** Answers with this status and body: JSON for an object, HTML for a text. */
export function refuses(status: number, body: object | string, headers: Record<string, string> = {}): Behaviour {
  const isText = typeof body === 'string'
  return ({ response }) => {
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }
}

/** Writes these bytes unchanged, in an event stream that then ends. The network may split them anywhere. */
export function writes(...bytes: (string | Uint8Array)[]): Behaviour {
  return (call) => {
    for (const each of bytes) call.write(each)
    call.end()
  }
}

/** Answers with complete JSON, as a server without streaming. */
export function completes(text: string): Behaviour {
  const message = { role: 'assistant', content: text }
  return refuses(200, {
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
}

/** One request to a model server, and its response. */
export class ModelCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly request: ModelRequest
  readonly response: ServerResponse
  /** Resolves when the client disconnects before the end of the response; otherwise pending. */
  readonly closed: Promise<void>
  #pieces = 0
  #cut = false

  constructor(path: string, headers: IncomingHttpHeaders, request: ModelRequest, response: ServerResponse) {
    this.path = path
    this.headers = headers
    this.request = request
    this.response = response
    this.closed = new Promise((resolve) =>
      response.once('close', () => !response.writableEnded && !this.#cut && resolve()),
    )
  }

  /** Sends the head of an event stream, unless it was sent. */
  begin(): void {
    if (this.response.headersSent) return
    this.response.writeHead(200, { 'content-type': 'text/event-stream' })
    this.response.flushHeaders()
  }

  /** Sends bytes unchanged. */
  write(bytes: string | Uint8Array, sent?: () => void): void {
    this.begin()
    this.response.write(bytes, sent)
  }

  /** Sends an object as an event. */
  chunk(chunk: object, sent?: () => void): void {
    this.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', ...chunk })}\n\n`, sent)
  }

  /** Sends a chunk of the answer. */
  say(content: string, sent?: () => void): void {
    const role = this.#pieces++ === 0 ? { role: 'assistant' } : {}
    this.chunk({ choices: [{ index: 0, delta: { ...role, content }, finish_reason: null }] }, sent)
  }

  /** Ends the answer correctly: the reason, the usage if requested, and `[DONE]`. */
  finish(finish_reason = 'stop'): void {
    this.chunk({ choices: [{ index: 0, delta: {}, finish_reason }] })
    const [prompt_tokens, completion_tokens] = [this.request.messages.length, this.#pieces]
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    if (this.request.stream_options?.include_usage) this.chunk({ choices: [], usage })
    this.write('data: [DONE]\n\n')
    this.end()
  }

  /** Ends the body at this point. */
  end(): void {
    this.response.end()
  }

  /** Closes the connection once all bytes have left. */
  die(): void {
    this.#cut = true
    this.begin()
    this.response.write(':\n\n', () => this.response.destroy())
  }
}

/** A model server over HTTP, controlled by the test. */
export class ModelServer {
  /** Every request so far. */
  readonly calls: ModelCall[] = []
  readonly #server: Server
  #url = ''
  readonly #behaviours: Behaviour[] = [streams('Hello', ', ', 'world.')]
  readonly #waiting: ((call: ModelCall) => void)[] = []
  readonly #unseen: ModelCall[] = []

  constructor() {
    this.#server = createServer(async (request, response) => {
      const isKnown = request.method === 'POST' && request.url === '/v1/chat/completions'
      if (!isKnown) return void response.writeHead(404).end()
      // A client that was killed during its request does not fail the test.
      const asked = await json(request).catch(() => undefined)
      if (asked) this.#take(new ModelCall(request.url!, request.headers, asked as ModelRequest, response))
    })
  }

  /** The `base_url` of this server; empty before `listen`. */
  get url(): string {
    return this.#url
  }

  /** The handlers of the next requests, in order; the last one also handles all that follow. The default greets. */
  will(...behaviours: Behaviour[]): void {
    this.#behaviours.splice(0, Number.POSITIVE_INFINITY, ...behaviours)
  }

  /** The next request that `nextCall` has not returned yet. */
  nextCall(): Promise<ModelCall> {
    const call = this.#unseen.shift()
    return call ? Promise.resolve(call) : new Promise((resolve) => this.#waiting.push(resolve))
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  #take(call: ModelCall): void {
    this.calls.push(call)
    const waiting = this.#waiting.shift()
    if (waiting) waiting(call)
    else this.#unseen.push(call)
    const [behaviour, ...rest] = this.#behaviours
    if (rest.length > 0) this.#behaviours.shift()
    behaviour!(call)
  }
}

/** Starts a model server that ends with the test. */
export async function startModelServer(...behaviours: Behaviour[]): Promise<ModelServer> {
  const server = new ModelServer()
  if (behaviours.length > 0) server.will(...behaviours)
  await server.listen()
  onTestFinished(() => server.close())
  return server
}
