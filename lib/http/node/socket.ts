import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'

/**
 * How many new connections may wait to be taken: as many as the system permits (`net.core.somaxconn`, 4,096 on Linux).
 * Node's default is 511. Thousands of clients that come back at once are more than that: the system drops the others, and
 * each tries again after 1, 3 and 7 seconds, or is reset. A proxy on a Unix domain socket gets an error at once.
 */
export const BACKLOG = 65_535

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
  server.listen({ path: socket, backlog: BACKLOG })
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
