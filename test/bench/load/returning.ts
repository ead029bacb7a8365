import type { Socket } from 'node:net'
import { httpRequest } from './http.ts'
import { type Cursor, scan } from './marker.ts'
import { openPoster, type Poster } from './poster.ts'
import { openSocket } from './socket.ts'

/** A stream of all conversations of a user that resumes. */
export interface Returning {
  headers: Record<string, string>
  /** Where it left; without one it starts at the end. */
  last_event_id?: string
  /** The number of posts that it has missed. */
  missed: number
}

/** Streams that have got all that they missed. */
export interface Returned {
  /** Where each of them began. */
  positions: string[]
  close(): void
}

/** A server's backlog is longer, and no connection is refused. */
const CONNECTING_AT_ONCE = 400

const READY = /event: stream\.ready\n.*?"resumed":(true|false).*?"last_event_id":"([^"]+)"/s

interface Stream extends Cursor {
  /** What came before `stream.ready` was whole. */
  head: string
  position: string
  /** The number of the last post, and how many there were. */
  last: number
  got: number
}

/**
 * Opens all streams without waiting for answers.
 *
 * @returns when each has got `stream.ready` and what it missed, in order and once
 */
export async function returnAll(port: number, streams: Returning[], fail: (error: Error) => void): Promise<Returned> {
  const sockets: Socket[] = []
  const positions: string[] = Array(streams.length)
  let level = 0
  let allLevel = () => {}
  const done = new Promise<void>((resolve) => (allLevel = resolve))

  function open({ headers, last_event_id, missed }: Returning, index: number): Promise<void> {
    const stream: Stream = { tail: undefined, stride: 0, head: '', position: '', last: -1, got: 0 }
    const resumes = last_event_id !== undefined
    const request = httpRequest('GET', '/api/stream', {
      headers: { ...headers, accept: 'text/event-stream', ...(resumes && { 'last-event-id': last_event_id }) },
    })
    const readHead = (bytes: Buffer) => {
      stream.head += bytes.toString('latin1')
      const ready = READY.exec(stream.head)
      if (!ready) {
        if (/^HTTP\/1\.1 (?!200)/.test(stream.head))
          fail(new Error(`a stream was answered ${stream.head.slice(9, 600)}`))
        return
      }
      if (ready[1] !== String(resumes)) fail(new Error('a stream did not resume where it had left'))
      positions[index] = stream.position = ready[2]!
      stream.head = ''
    }
    const socket = openSocket(port, {
      bytes: (bytes) => {
        const wasLevel = isLevel()
        if (!stream.position) readHead(bytes)
        scan(stream, bytes, (_, seq) => {
          if (seq <= stream.last) fail(new Error(`a stream got post ${seq} after post ${stream.last}`))
          stream.last = seq
          if (++stream.got > missed) fail(new Error('a stream got a post that it does not miss'))
        })
        if (!wasLevel && isLevel() && ++level === streams.length) allLevel()
      },
      lost: ({ message }) => fail(new Error(`a stream was lost: ${message} ${stream.head.slice(0, 600)}`)),
    })
    const isLevel = () => stream.position !== '' && stream.got === missed
    sockets.push(socket)
    socket.write(request)
    return new Promise((resolve) => socket.once('connect', resolve))
  }

  for (let from = 0; from < streams.length; from += CONNECTING_AT_ONCE)
    await Promise.all(streams.slice(from, from + CONNECTING_AT_ONCE).map((stream, n) => open(stream, from + n)))
  await done
  return {
    positions,
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Sends all requests, `connections` at a time, in this order. */
export async function sendAll(
  port: number,
  requests: string[],
  connections: number,
  fail: (error: Error) => void,
): Promise<void> {
  let next = 0
  const work = () =>
    new Promise<void>((resolve) => {
      const send = () => {
        if (next < requests.length) return poster.send(requests[next++]!)
        poster.close()
        resolve()
      }
      const poster: Poster = openPoster(port, send, fail)
      send()
    })
  await Promise.all(Array.from({ length: connections }, work))
}
