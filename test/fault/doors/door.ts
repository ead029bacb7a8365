import { setTimeout as sleep } from 'node:timers/promises'
import { readEvents } from '../../../lib/client/event-stream.ts'
import { ChatError } from '../../../lib/core/errors.ts'

/** A pause before a connection is opened again. */
export const PAUSE_MS = 20

/** A user at one of the nodes. */
export interface Caller {
  base_url: string
  key: string
  cookie: string
  conversation_id: string
}

/** An answer that was asked for. */
export interface Asked {
  message_id: string
  question: string
  /** The position of the stream of its conversation before it was asked for. */
  position: string
}

/** A call of a tool that waits. */
export interface WaitingCall {
  message_id: string
  call_id: string
}

/** A client that reads an answer, and goes on wherever its connection is lost. */
export interface Visit {
  asked: Asked
  /** The user at a node that runs. */
  caller(): Promise<Caller>
  /** After how many new frames of a connection the client leaves, and comes back. */
  leaveAfter(): number
  signal: AbortSignal
  fault(text: string): void
  onConnect(): void
}

/** An answer as a client has got it. */
export interface Reading {
  text: string
  /** What the end was called. */
  end: string
  /** What came, without what depends on the connection: the same for all clients of a protocol. */
  frames: string[]
}

/** A protocol with which clients ask, read, decide and stop. */
export interface Door {
  name: string
  /** How it calls the end of an answer with each status. */
  ends: Record<'complete' | 'cancelled' | 'failed' | 'interrupted', string>
  /** Asks. With the same key it is the same question. @returns the id of the answer */
  ask(caller: Caller, question: { content: string; key: string }): Promise<string>
  read(visit: Visit): Promise<Reading>
  decide(caller: Caller, call: WaitingCall, approve: boolean): Promise<void>
  stop(caller: Caller, message_id: string): Promise<void>
}

/** A refusal, with its status, or its code in a protocol that has those. */
export class Refused extends Error {
  readonly code: number | string

  constructor(code: number | string, what: string) {
    super(`${code} ${what}`)
    this.code = code
  }
}

/** Whether a kill has left a request without a response, or none was possible. */
export function isLost(error: unknown): boolean {
  if (error instanceof Refused) return error.code === 503 || error.code === 'unavailable'
  if (error instanceof ChatError) return error.code === 'unavailable'
  // That of `fetch` has a cause; one without is a fault of this program.
  return error instanceof TypeError && error.cause !== undefined
}

/** Sends JSON. @throws Refused */
export async function send(
  { base_url, key }: Caller,
  method: string,
  path: string,
  { body, ...init }: { body?: object; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  const response = await fetch(base_url + path, {
    ...init,
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Refused(response.status, `${method} ${path} ${await response.text()}`)
  return response
}

/** The first frame of a stream, which the client then leaves. */
export async function firstFrame(response: Response): Promise<string> {
  for await (const { data } of readEvents(response.body!)) return data
  throw new Error('The stream has no frame')
}

/**
 * Opens a stream once, and reads its frames until one is the last, or the client leaves.
 *
 * @param options `body`: what is posted for it; `take` gets each frame, and @returns `last` if nothing follows it; `known`: how many the client has already
 * @returns `over` after the last frame, `missing` if there is no such stream, else `broken`: the client comes back
 */
export async function readStream(
  { caller, leaveAfter, signal, fault, onConnect }: Visit,
  path: string,
  { take, known = 0, body }: { take: (frame: string) => 'last' | undefined; known?: number; body?: object },
): Promise<'over' | 'missing' | 'broken'> {
  const left = new AbortController()
  let frames = known + leaveAfter()
  try {
    const init = { signal: AbortSignal.any([signal, left.signal]), ...(body && { body }) }
    const response = await send(await caller(), body ? 'POST' : 'GET', path, init)
    onConnect()
    for await (const { data } of readEvents(response.body!)) {
      if (take(data) === 'last') return 'over'
      if (--frames <= 0) return 'broken'
    }
    // Clients take it for the end of the answer.
    fault(`${path} ended without its last frame`)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Refused && error.code === 404) return 'missing'
    if (!isLost(error)) throw error
  } finally {
    left.abort()
  }
  await sleep(PAUSE_MS)
  return 'broken'
}
