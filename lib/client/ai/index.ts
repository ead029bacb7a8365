import { createBackoff, isTransient, pause } from '../backoff.ts'
import { readEvents } from '../event-stream.ts'
import { newKey } from '../new-key.ts'
import { requesters } from '../requester-of.ts'
import type { ChatClient } from '../types.ts'

/** A part of a message of the AI SDK. */
export interface UiPart {
  type: string
  [field: string]: unknown
}

/** A message of the AI SDK, in any of its versions. */
export interface UiMessage {
  id: string
  role: 'system' | 'user' | 'assistant'
  parts: UiPart[]
  metadata?: unknown
}

/** A chat that the user has named. */
export interface UiChat {
  id: string
  root_id: string
  conversation_id: string
  title: string
  last_activity_at: string
}

/** How the chats of a page are opened. */
export interface UiTransportOptions {
  /** The conversation of new chats, and of files that are sent. Default: a new one of the user alone for each chat. */
  conversation_id?: string
  /** The key of the assistant that answers. */
  assistant?: string
  /** `5` for version 5 of the AI SDK, which knows no approvals. */
  ui_version?: '5'
}

/** How `useChat` sends messages. `any` stands for types that differ between the versions of the AI SDK. */
export interface UiTransport {
  /** A resumed stream begins with the first row: chats of 6 and 7 then begin the message anew. */
  readonly resumeStreamIsReplay: true
  // biome-ignore lint/suspicious/noExplicitAny: the types of messages and chunks are those of the page's version.
  sendMessages(options: any): Promise<ReadableStream<any>>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  reconnectToStream(options: any): Promise<ReadableStream<any> | null>
  /** Stops what runs or waits in a chat, for all its readers. @returns false if nothing does */
  stop(id: string): Promise<boolean>
  /** The messages of a chat, down to `leaf` or to the newest answer. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  load(id: string, options?: { leaf?: string }): Promise<any[]>
  /** The chats that the user has named, latest activity first. */
  list(options?: { after?: string; limit?: number }): Promise<{ chats: UiChat[]; next_after?: string }>
}

/** What `useChat` gives to a transport. */
interface SendOptions {
  chatId: string
  messages: UiMessage[]
  trigger: string
  messageId?: string
  abortSignal?: AbortSignal
  headers?: Record<string, string> | Headers
  body?: object
}

/** How often a stream that is broken off is opened again, without a frame in between. */
const MAX_FAILURES = 10

/** Sends a request; again, with the id of the answer once that is known. */
type Send = (answerId?: string) => Promise<Response>

/**
 * A transport for `useChat` of the AI SDK 5, 6 and 7. A stream that is broken off goes on at the frame where it was, unseen by the
 * hook. Only the last message is sent, and files of the page are uploaded to `conversation_id`.
 *
 * @throws TypeError for another object than a client
 * @example
 * const { messages, sendMessage } = useChat({ id, transport: uiTransport(client), resume: true })
 */
export function uiTransport(client: ChatClient, options: UiTransportOptions = {}): UiTransport {
  const requester = requesters.get(client)
  if (!requester) throw new TypeError('uiTransport needs a client')
  const { ui_version, ...fields } = options
  const version = ui_version && { 'x-ui-version': ui_version }
  const pathOf = (id: string, rest = '') => `/api/ui/chat/${encodeURIComponent(id)}${rest}`
  const send = (method: string, path: string, init: object = {}) =>
    requester.request(method, path, { headers: { ...version }, ...init })
  // JSON has no fields that are undefined.
  const read = async (path: string, query: object) =>
    (await send('GET', `${path}?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`)).json()

  return {
    resumeStreamIsReplay: true,

    async sendMessages({ chatId, messages, trigger, messageId, abortSignal: signal, headers, body }: SendOptions) {
      const last = await withFiles(client, options.conversation_id, messages.at(-1)!)
      // The place of the question: below the answer before it.
      const before = messages.slice(0, -1).findLast(({ role }) => role === 'assistant')
      const shown = before ? [{ id: before.id, role: before.role }, last] : [last]
      const init = {
        // Sent again, it is the same question.
        headers: { 'idempotency-key': newKey(), ...version, ...Object.fromEntries(new Headers(headers)) },
        body: { ...fields, ...body, id: chatId, messages: shown, trigger, messageId },
        signal,
      }
      const post = () => requester.request('POST', '/api/ui/chat', init)
      return toStream(await post(), post, signal)
    },

    async reconnectToStream({ chatId, abortSignal: signal }: Pick<SendOptions, 'chatId' | 'abortSignal'>) {
      const resume: Send = (id) =>
        send('GET', id ? `/api/messages/${id}/ui-stream` : pathOf(chatId, '/stream'), { signal })
      const response = await resume()
      return response.status === 204 ? null : toStream(response, resume, signal)
    },

    stop: async (id) => (await send('POST', pathOf(id, '/stop'))).status === 202,

    async load(id, { leaf } = {}) {
      const all: UiMessage[] = []
      let before: string | undefined
      do {
        const { messages, next_before } = await read(pathOf(id), { limit: 200, leaf, before })
        all.unshift(...messages)
        before = next_before
      } while (before)
      return all
    },

    list: (query = {}) => read('/api/ui/chats', query),
  }
}

/** The frames of a stream, which is opened again where it was broken off: they are the same each time. */
async function* follow(first: Response, again: Send, signal?: AbortSignal): AsyncGenerator<object> {
  const backoff = createBackoff()
  let response: Response | undefined = first
  let answerId: string | undefined
  let seen = 0
  for (let failures = 0; ; failures++)
    try {
      response ??= await again(answerId)
      let n = 0
      for await (const { data } of readEvents(response.body!)) {
        if (n++ < seen) continue
        if (data === '[DONE]') return
        const frame = JSON.parse(data) as { messageId?: string }
        answerId ??= frame.messageId
        failures = 0
        seen++
        yield frame
      }
      throw new TypeError('Lost')
    } catch (error) {
      response = undefined
      if (signal?.aborted || failures >= MAX_FAILURES) throw error
      // The lost stream may still occupy its place for a while.
      if (!isTransient(error) && (error as { code?: string }).code !== 'too_many_streams') throw error
      // At once, and then ever later.
      if (failures > 0) await pause(backoff.next(), signal)
    }
}

function toStream(first: Response, again: Send, signal?: AbortSignal): ReadableStream {
  const frames = follow(first, again, signal)
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await frames.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void frames.return(undefined),
  })
}

/** A message whose files are in the service. @throws TypeError for a file without a conversation that it belongs to */
async function withFiles(
  client: ChatClient,
  conversationId: string | undefined,
  message: UiMessage,
): Promise<UiMessage> {
  const parts = message.parts.map(async (part) => {
    const { type, url, filename } = part as { type: string; url?: string; filename?: string }
    if (type !== 'file' || !url?.startsWith('data:')) return part
    if (conversationId === undefined) throw new TypeError('Files need a conversation_id')
    const file = await (await fetch(url)).blob()
    const { id } = await client.upload(conversationId, file, filename ? { name: filename } : {})
    return { ...part, url: id }
  })
  return { ...message, parts: await Promise.all(parts) }
}
