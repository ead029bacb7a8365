import * as v from 'valibot'
import { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import { readEvents } from '../../lib/client/event-stream.ts'
import type { ReceivedEvent } from '../../lib/client/index.ts'

/** An open stream of a test: each event is checked against its schema as it arrives. */
export interface TestStream {
  response: Response
  /** The next event of any type. `undefined` at the end. */
  next(): Promise<ReceivedEvent | undefined>
  /** Reads until an event of the type, and returns all events read, that one last. */
  until(type: string, matches?: (event: ConversationStreamEvent) => boolean): Promise<ReceivedEvent[]>
  close(): Promise<void>
}

/** Opens the stream of a conversation, or without one of all, with plain `fetch`, independently of the client. */
export async function openStream(
  base_url: string,
  conversationId: string | undefined,
  options: { cookie?: string; authorization?: string; act_as?: string; last_event_id?: string; search?: string },
): Promise<TestStream> {
  const abort = new AbortController()
  const path = conversationId === undefined ? '/api/stream' : `/api/stream/conversations/${conversationId}`
  const response = await fetch(`${base_url}${path}${options.search ?? ''}`, {
    signal: abort.signal,
    headers: {
      ...(options.cookie && { cookie: options.cookie }),
      ...(options.authorization && { authorization: options.authorization }),
      ...(options.act_as && { 'chat-act-as': options.act_as }),
      ...(options.last_event_id !== undefined && { 'last-event-id': options.last_event_id }),
    },
  })
  return followResponse(response, () => abort.abort())
}

/** The events of a response, from any source; `leave` disconnects its reader. */
export function followResponse(response: Response, leave: () => void = () => {}): TestStream {
  const events = response.ok ? readEvents(response.body!) : undefined

  async function next(): Promise<ReceivedEvent | undefined> {
    const { value, done } = (await events?.next()) ?? { done: true }
    if (done || !value) return undefined
    const event = v.parse(ConversationStreamEvent, JSON.parse(value.data))
    if (event.type !== value.type) throw new Error(`event: ${value.type} carries ${event.type}`)
    return value.id === undefined ? { event } : { id: value.id, event }
  }

  return {
    response,
    next,
    async until(type, matches = () => true) {
      const seen: ReceivedEvent[] = []
      for (;;) {
        const received = await next()
        if (!received)
          throw new Error(
            response.ok
              ? `The stream ended before ${type}: ${JSON.stringify(seen.map((each) => each.event.type))}`
              : `The stream was refused: ${response.status} ${await response.text()}`,
          )
        seen.push(received)
        if (received.event.type === type && matches(received.event)) return seen
      }
    },
    async close() {
      leave()
      await events?.return(undefined).catch(() => {})
    },
  }
}

/** The headers of a signed-in call. */
export type SignedHeaders = { cookie: string; 'x-csrf-token': string }

/** Signs in with plain `fetch`. @returns the headers of a signed-in call */
export async function signInByHand(
  base_url: string,
  email: string,
  password: string,
  ask: (request: Request) => Response | Promise<Response> = fetch,
): Promise<SignedHeaders> {
  const request = new Request(`${base_url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  return headersFrom(await ask(request))
}

/** Refreshes a session with plain `fetch`. @returns the headers of the next call */
export async function refreshByHand(base_url: string, headers: Record<string, string>): Promise<SignedHeaders> {
  return headersFrom(await fetch(`${base_url}/api/auth/refresh`, { method: 'POST', headers }))
}

async function headersFrom(response: Response): Promise<SignedHeaders> {
  const { csrf_token } = (await response.json()) as { csrf_token: string }
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return { cookie, 'x-csrf-token': csrf_token }
}
