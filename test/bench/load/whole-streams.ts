import type { Socket } from 'node:net'
import { createFailure } from './failure.ts'
import { openSocket } from './socket.ts'

/** The last bytes of a stream that has ended, and not broken off. */
const END = 'data: [DONE]\n\n'
const LAST_CHUNK = '\r\n0\r\n\r\n'

/** What is kept of the bytes so far: as much as both ends take. */
const TAIL = END.length + LAST_CHUNK.length + 16

/**
 * Opens connections, sends a request on all of them at once, and reads each stream to its end.
 *
 * @param least the bytes that each has at least
 * @returns how long each took, in milliseconds
 */
export async function timeStreams(
  { port, request, least }: { port: number; request: string; least: number },
  count: number,
): Promise<number[]> {
  const { fail, or } = createFailure()
  const sockets: Socket[] = []
  try {
    const read = await or(Promise.all(Array.from({ length: count }, () => openReading(port, sockets, { least, fail }))))
    const sent = performance.now()
    return await or(Promise.all(read.map((send) => send(request, sent))))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** A connection. @returns a function that sends a request and resolves with the time that its stream took */
async function openReading(
  port: number,
  sockets: Socket[],
  { least, fail }: { least: number; fail: (error: Error) => void },
): Promise<(request: string, sent: number) => Promise<number>> {
  let size = 0
  let tail = ''
  let ended = () => {}
  const socket = openSocket(port, {
    bytes(bytes) {
      if (size === 0 && !isOk(bytes))
        return fail(new Error(`a stream was answered ${bytes.toString('latin1', 0, 300)}`))
      size += bytes.length
      tail = (tail + bytes.toString('latin1', Math.max(0, bytes.length - TAIL))).slice(-TAIL)
      if (!tail.endsWith(LAST_CHUNK)) return
      if (size < least || !tail.includes(END.trimEnd())) fail(new Error(`a stream of ${size} bytes lacks its end`))
      else ended()
    },
    lost: fail,
  })
  sockets.push(socket)
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  return (request, sent) =>
    new Promise((resolve) => {
      ended = () => resolve(performance.now() - sent)
      socket.write(request, 'latin1')
    })
}

const isOk = (bytes: Buffer) => bytes.toString('latin1', 9, 12) === '200'
