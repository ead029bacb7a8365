import { connect } from 'node:net'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import { createEventReader } from '../../lib/core/sse-format.ts'

/** An event as it was received. */
export interface RawEvent {
  id?: string
  event: ConversationStreamEvent
}

/** A stream read over a plain socket, which can be closed at any byte and left unread. */
export interface RawStream {
  /** `cut` if the reader closed it, `ended` if the server did, `refused` without a response or a stream. */
  over: Promise<'cut' | 'ended' | 'refused'>
  cut(): void
  /** Continues to read, after `paused`. */
  resume(): void
}

/** What to open, and how. */
export interface RawOptions {
  base_url: string
  /** Default: all of the user. */
  conversation_id?: string
  cookie: string
  last_event_id?: string
  /** Closes the connection after this many bytes of the stream; complete events count, half an event does not. */
  cut_after?: number
  /** Reads nothing, not even the response, before `resume()`. */
  paused?: boolean
  onEvent(event: RawEvent): void
}

/** Opens the stream of a conversation, or of all. */
export function openRaw(options: RawOptions): RawStream {
  const { base_url, conversation_id, cookie, last_event_id, cut_after = Number.POSITIVE_INFINITY } = options
  const { hostname, port } = new URL(base_url)
  const socket = connect(Number(port), hostname)
  if (options.paused) socket.pause()
  socket.write(
    [
      `GET /api/stream${conversation_id ? `/conversations/${conversation_id}` : ''} HTTP/1.1`,
      `host: ${hostname}`,
      `cookie: ${cookie}`,
      ...(last_event_id === undefined ? [] : [`last-event-id: ${last_event_id}`]),
      '\r\n',
    ].join('\r\n'),
  )

  const read = createEventReader(1024 * 1024)
  const decoder = new TextDecoder()
  let head = Buffer.alloc(0)
  let length = 0
  let hasStarted = false
  let isCut = false

  function take(chunk: Buffer): void {
    if (!hasStarted) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const text = head.subarray(0, end).toString('latin1')
      if (!text.startsWith('HTTP/1.1 200')) return void socket.destroy()
      if (/transfer-encoding/i.test(text)) throw new Error('The stream is chunked: its bytes are not those of events')
      hasStarted = true
      chunk = head.subarray(end + 4)
    }
    // Bytes that arrived after the cut do not count.
    const excess = length + chunk.length - cut_after
    length += chunk.length
    const seen = excess >= 0 ? chunk.subarray(0, chunk.length - excess) : chunk
    for (const { id, data } of read(decoder.decode(seen, { stream: true }))) {
      if (isCut) break
      const event = JSON.parse(data) as ConversationStreamEvent
      options.onEvent(id === undefined ? { event } : { id, event })
    }
    if (excess >= 0) cut()
  }

  function cut(): void {
    isCut = true
    socket.destroy()
  }

  const over = new Promise<'cut' | 'ended' | 'refused'>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        socket.destroy()
        reject(error)
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(isCut ? 'cut' : hasStarted ? 'ended' : 'refused'))
  })
  return { over, cut, resume: () => void socket.resume() }
}
