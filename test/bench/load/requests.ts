import { createFailure } from './failure.ts'
import { type Measured, measure } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'

/** The servers under test, connected to in turn, and the requests that are sent in turn, over and over. */
export interface RequestTarget {
  pid: number | number[]
  port: number | number[]
  requests: string[]
}

/** Each of `connections` sends a request, waits for the answer, and sends the next one, for one round. */
export async function repeatRequest(target: RequestTarget, connections: number, seconds: number): Promise<Measured> {
  const failure = createFailure()
  const posters: Poster[] = []
  let answers = 0
  let sent = 0
  const ports = [target.port].flat()
  const next = () => target.requests[sent++ % target.requests.length]!
  try {
    for (let i = 0; i < connections; i++) {
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
