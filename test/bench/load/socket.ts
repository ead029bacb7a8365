import { connect, type Socket } from 'node:net'

const READ_BYTES = 256 * 1024

/**
 * Where every socket of the client reads into. The bytes are used up inside the callback, before another socket
 * is read, so one buffer serves thousands of readers and nothing is allocated for a delivery.
 */
const shared = Buffer.allocUnsafe(READ_BYTES)

export interface SocketEvents {
  /** `bytes` is overwritten by the next read, of any socket. */
  bytes(bytes: Buffer): void
  /** The connection ended and `destroy()` was not the reason. */
  lost(error: Error): void
}

/** A raw connection to a server on this machine. */
export function openSocket(port: number, on: SocketEvents): Socket {
  const socket = connect({
    host: '127.0.0.1',
    port,
    noDelay: true,
    onread: {
      buffer: shared,
      callback: (length) => {
        on.bytes(shared.subarray(0, length))
        return true
      },
    },
  })
  socket.on('error', (error) => on.lost(error))
  socket.on('end', () => on.lost(new Error('the server closed a connection')))
  return socket
}
