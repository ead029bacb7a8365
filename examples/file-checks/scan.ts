import { once } from 'node:events'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { FileToCheck, ScanVerdict } from 'chat-server'

/**
 * A `ports.scan` that asks ClamAV: the bytes go to `clamd` as they are read, over its socket (`INSTREAM` of `man clamd`).
 *
 * Let `StreamMaxLength` of clamd be at least `attachments.max_bytes`: what clamd does not read cannot be checked, and
 * `attachments.scan_failure` decides.
 *
 * @param clamd such as `{ path: '/run/clamav/clamd.ctl' }` or `{ host: 'clamd', port: 3310 }`
 */
export function createScan(clamd: NetConnectOpts): (file: FileToCheck) => Promise<ScanVerdict> {
  return async ({ open, signal }) => {
    const socket = connect({ ...clamd, signal })
    try {
      const reply = readReply(socket)
      // It is awaited below; until then its failure is no unhandled one.
      reply.catch(() => {})
      await Promise.race([send(socket, open()), reply])
      return toVerdict(await reply)
    } finally {
      socket.destroy()
    }
  }
}

/** Sends pieces, each after its length, and one of no length at the end. */
async function send(socket: Socket, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  socket.write('zINSTREAM\0')
  for await (const piece of pieces) {
    // clamd ends the connection when a file is too long for it; its reply says so.
    if (!socket.writable) return
    socket.write(lengthOf(piece))
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  }
  socket.write(lengthOf(new Uint8Array()))
}

function lengthOf(piece: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(piece.length)
  return length
}

/** All that clamd sends: one line that ends with a NUL. */
async function readReply(socket: Socket): Promise<string> {
  let reply = ''
  try {
    for await (const text of socket.setEncoding('utf8')) {
      reply += text
      if (reply.endsWith('\0')) break
    }
  } catch (error) {
    // It may have replied before it closed a connection on which more was to be sent.
    if (reply === '') throw error
  }
  return reply.replace(/\0$/, '')
}

/** @throws Error for anything but a verdict: the service tries again */
function toVerdict(reply: string): ScanVerdict {
  if (reply === 'stream: OK') return { verdict: 'clean' }
  const found = /^stream: (.+) FOUND$/.exec(reply)?.[1]
  if (found === undefined) throw new Error(`clamd replied ${JSON.stringify(reply)}`)
  return { verdict: 'refused', reason: found }
}
