import type { Socket } from 'node:net'
import { completeAnswer, isSuccess } from './http.ts'
import { openSocket } from './socket.ts'

/** A kept-alive connection that carries one request at a time, and is replaced when the server has enough of it. */
export interface Poster {
  send(request: string): void
  close(): void
}

/** @param answered called after each whole 2xx answer; every other end is a failure */
export function openPoster(port: number, answered: () => void, fail: (error: Error) => void): Poster {
  let socket = connect()

  function connect(): Socket {
    let received = ''
    const connection = openSocket(port, {
      bytes: (bytes) => {
        received += bytes.toString('latin1')
        const answer = completeAnswer(received)
        if (!answer) return
        if (!isSuccess(answer.status)) return fail(new Error(`a request was answered ${received.slice(9, 600)}`))
        received = ''
        if (answer.closes) {
          connection.destroy()
          socket = connect()
        }
        answered()
      },
      lost: fail,
    })
    return connection
  }

  return {
    send: (request) => void socket.write(request, 'latin1'),
    close: () => socket.destroy(),
  }
}
