import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** What is asked of a model, as far as tests look at it. */
export interface ModelRequest {
  model: string
  messages: { role: string; content: string }[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
}

/** What the server does with a request. One that returns leaves the answer open, for the test to go on with by hand. */
export type Behaviour = (call: ModelCall) => void

/** Streams an answer piece by piece, to its end. */
export function streams(...pieces: string[]): Behaviour {
  return (call) => {
    for (const piece of pieces) call.say(piece)
    call.finish()
  }
}

/** Streams these pieces, and then says nothing more for ever, unless the test does. */
export function stallsAfter(...pieces: string[]): Behaviour {
  return (call) => {
    call.begin()
    for (const piece of pieces) call.say(piece)
  }
}

/** Streams these pieces, and then cuts the connection. */
export function diesAfter(...pieces: string[]): Behaviour {
  return (call) => {
    for (const piece of pieces) call.say(piece)
    call.die()
  }
}

/** Streams the same piece again and again, for as long as somebody listens. */
export function streamsForEver(piece: string): Behaviour {
  return (call) => {
    // A callback of the write: the next piece goes when this one has left, so that nothing piles up here.
    const next = () => {
      if (!call.response.destroyed) call.say(piece, next)
    }
    next()
  }
}

/** Answers with this status and body: JSON of what is no text, and else HTML. */
export function refuses(status: number, body: object | string, headers: Record<string, string> = {}): Behaviour {
  const isText = typeof body === 'string'
  return ({ response }) => {
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }
}

/** Writes these as they are, in an event stream that then ends. Where it is cut on its way, nobody knows. */
export function writes(...bytes: (string | Uint8Array)[]): Behaviour {
  return (call) => {
    for (const each of bytes) call.write(each)
    call.end()
  }
}

/** Answers whole, in JSON, as a server that does not stream. */
export function completes(text: string): Behaviour {
  const message = { role: 'assistant', content: text }
  return refuses(200, {
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
}

/** One request a model server got, and the answer to it. */
export class ModelCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly request: ModelRequest
  readonly response: ServerResponse
  /** Resolves when the client hangs up before the answer has ended; pending as long as it does not. */
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

  /** Sends the head of an event stream, if that has not been done. */
  begin(): void {
    if (this.response.headersSent) return
    this.response.writeHead(200, { 'content-type': 'text/event-stream' })
    this.response.flushHeaders()
  }

  /** Sends bytes as they are. */
  write(bytes: string | Uint8Array, sent?: () => void): void {
    this.begin()
    this.response.write(bytes, sent)
  }

  /** Sends an object as an event. */
  chunk(chunk: object, sent?: () => void): void {
    this.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', ...chunk })}\n\n`, sent)
  }

  /** Sends a piece of the answer. */
  say(content: string, sent?: () => void): void {
    const role = this.#pieces++ === 0 ? { role: 'assistant' } : {}
    this.chunk({ choices: [{ index: 0, delta: { ...role, content }, finish_reason: null }] }, sent)
  }

  /** Ends the answer as it should: the reason, the usage if that was asked for, and `[DONE]`. */
  finish(finish_reason = 'stop'): void {
    this.chunk({ choices: [{ index: 0, delta: {}, finish_reason }] })
    const [prompt_tokens, completion_tokens] = [this.request.messages.length, this.#pieces]
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    if (this.request.stream_options?.include_usage) this.chunk({ choices: [], usage })
    this.write('data: [DONE]\n\n')
    this.end()
  }

  /** Ends the body, whatever was said. */
  end(): void {
    this.response.end()
  }

  /** Cuts the connection once what was written has left. */
  die(): void {
    this.#cut = true
    this.begin()
    this.response.write(':\n\n', () => this.response.destroy())
  }
}

/** A server that speaks as the model servers do, over HTTP, and does what the test says. */
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
      // A client that was killed while it asked is no failure of the test.
      const asked = await json(request).catch(() => undefined)
      if (asked) this.#take(new ModelCall(request.url!, request.headers, asked as ModelRequest, response))
    })
  }

  /** The `base_url` that leads here, or did; empty before `listen`. */
  get url(): string {
    return this.#url
  }

  /** What is done with the next requests, one after another, and the last with all that follow. Until then it greets. */
  will(...behaviours: Behaviour[]): void {
    this.#behaviours.splice(0, Number.POSITIVE_INFINITY, ...behaviours)
  }

  /** The next request that no `nextCall` has given yet. */
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
