import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'

/** A Unix domain socket. */
export interface SocketPlace {
  /** Its path. A socket of a process that has died is replaced; any other file is not. */
  socket: string
  /** Its permissions: a user who may write it may connect. */
  mode: number
}

/**
 * Listens on a Unix domain socket.
 *
 * @throws Error that names the reason why it cannot
 */
export async function listenOnSocket(server: Server, { socket, mode }: SocketPlace): Promise<Server> {
  await removeDead(socket)
  server.listen(socket)
  try {
    await once(server, 'listening')
    chmodSync(socket, mode)
  } catch (cause) {
    server.close()
    // Node reports a missing folder as EACCES.
    const code = existsSync(dirname(socket)) ? (cause as NodeJS.ErrnoException).code : 'ENOENT'
    throw new Error(refusal(socket, REASONS[code ?? ''] ?? String(cause)), { cause })
  }
  return server
}

/** Removes the socket of a process that was killed. */
async function removeDead(path: string): Promise<void> {
  const file = lstatSync(path, { throwIfNoEntry: false })
  if (!file) return
  if (!file.isSocket()) throw new Error(refusal(path, 'a file that is no socket exists there'))
  const peer = connect(path)
  try {
    await once(peer, 'connect')
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'ECONNREFUSED') return unlinkSync(path)
    throw new Error(refusal(path, REASONS[code] ?? `the system refuses it (${code})`), { cause })
  } finally {
    peer.destroy()
  }
  throw new Error(refusal(path, REASONS.EADDRINUSE!))
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'this user may not create or use it',
  ENOENT: 'its folder does not exist',
  EROFS: 'its folder is read-only',
  EINVAL: 'the path is too long',
}

function refusal(path: string, reason: string): string {
  return `Cannot listen on unix:${path}: ${reason}`
}
