import { createFailure } from './failure.ts'
import { type Measured, measure } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'

/** The servers under test, connected to in turn, and the requests that are sent over and over. */
export interface RequestTarget {
  pid: number | number[]
  port: number | number[]
  /** The requests, or a function that returns the next one. */
  requests: string[] | (() => string)
}

/**
 * Each of `connections` sends a request, waits for the answer, and sends the next one, for one round. With as many
 * requests as connections, each connection repeats its own.
 */
export async function repeatRequest(target: RequestTarget, connections: number, seconds: number): Promise<Measured> {
  const failure = createFailure()
  const posters: Poster[] = []
  let answers = 0
  const ports = [target.port].flat()
  const { requests } = target
  try {
    for (let i = 0; i < connections; i++) {
      let turn = i
      const next = () => {
        if (typeof requests === 'function') return requests()
        const request = requests[turn % requests.length]!
        turn += connections
        return request
      }
      const poster: Poster = openPoster(
        ports[i % ports.length]!,
        () => {
          answers++
          poster.send(next())
        },
        failure.fail,
      )
      posters.push(poster)
      poster.send(next())
    }
    return await failure.or(measure(target.pid, seconds, () => answers))
  } finally {
    for (const poster of posters) poster.close()
  }
}
