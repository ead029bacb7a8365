import { createFailure } from './failure.ts'
import { type Measured, measure } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'

/** A server under test, and the requests it is sent in turn, over and over. */
export interface RequestTarget {
  pid: number
  port: number
  requests: string[]
}

/** Each of `connections` sends a request, waits for the answer, and sends the next one, for one round. */
export async function repeatRequest(target: RequestTarget, connections: number, seconds: number): Promise<Measured> {
  const failure = createFailure()
  const posters: Poster[] = []
  let answers = 0
  let sent = 0
  const next = () => target.requests[sent++ % target.requests.length]!
  try {
    for (let i = 0; i < connections; i++) {
      const poster: Poster = openPoster(
        target.port,
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
