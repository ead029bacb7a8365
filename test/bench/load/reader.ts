import type { Socket } from 'node:net'
import { type Cursor, scan } from './marker.ts'
import { openSocket } from './socket.ts'

/** One exchange of an opening: send this, and go on when the server's bytes contain that. */
export interface Step {
  send: string | Uint8Array
  until: string
  /** Runs before the next step, with what the server has sent for this one. */
  after?: (received: string) => Promise<void>
}

/** A participant who follows the conversation. */
export interface Reader extends Cursor {
  socket: Socket
  /** How many posts it has got. */
  position: number
}

export interface ReaderEvents {
  marker(reader: Reader, seq: number): void
  lost(error: Error): void
}

/** How many readers are being opened at a time: below the backlog that a peer listens with. */
const OPENING_AT_ONCE = 100

/** A server that brings many readers up to date may take seconds for the last one. */
const OPENING_TIMEOUT_MS = 30_000

/** Opens `count` readers and resolves when the last one is subscribed. */
export function openReaders(port: number, steps: Step[], count: number, on: ReaderEvents): Promise<Reader[]> {
  return openEach(port, Array(count).fill(steps), on)
}

/** The same with an opening for each reader. The first one opens alone: it may create what the others join. */
export async function openEach(port: number, openings: Step[][], on: ReaderEvents): Promise<Reader[]> {
  const readers: Reader[] = []
  while (readers.length < openings.length) {
    const atOnce = readers.length === 0 ? 1 : OPENING_AT_ONCE
    const group = openings.slice(readers.length, readers.length + atOnce)
    readers.push(...(await Promise.all(group.map((steps) => openReader(port, steps, on)))))
  }
  return readers
}

function openReader(port: number, steps: Step[], on: ReaderEvents): Promise<Reader> {
  return new Promise((resolve, reject) => {
    let step = 0
    let received = ''
    const timer = setTimeout(
      () => reject(new Error(`a stream did not open at step ${step + 1}: ${received.slice(0, 600)}`)),
      OPENING_TIMEOUT_MS,
    )
    const advance = () => {
      step++
      received = ''
      if (step < steps.length) return socket.write(steps[step]!.send)
      clearTimeout(timer)
      resolve(reader)
    }
    const socket = openSocket(port, {
      bytes: (bytes) => {
        if (step === steps.length) return scan(reader, bytes, on.marker)
        received += bytes.toString('latin1')
        if (/^HTTP\/1\.1 (?!101|200)/.test(received)) {
          return reject(new Error(`a stream was answered ${received.slice(9, 600)}`))
        }
        if (!received.includes(steps[step]!.until)) return
        const { after } = steps[step]!
        if (!after) return advance()
        socket.pause()
        after(received).then(() => {
          socket.resume()
          advance()
        }, reject)
      },
      lost: (error) => {
        reject(error)
        on.lost(error)
      },
    })
    const reader: Reader = { socket, position: 0, tail: undefined, stride: 0 }
    socket.write(steps[0]!.send)
  })
}
