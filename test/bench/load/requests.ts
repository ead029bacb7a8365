import { createFailure } from './failure.ts'
import { type Measured, measure } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'

/** A server under test, and the one request it is sent over and over. */
export interface RequestTarget {
  pid: number
  port: number
  request: string
}

/** Each of `connections` sends the request, waits for the answer, and sends it again, for one round. */
export async function repeatRequest(target: RequestTarget, connections: number, seconds: number): Promise<Measured> {
  const failure = createFailure()
  const posters: Poster[] = []
  let answers = 0
  try {
    for (let i = 0; i < connections; i++) {
      const poster: Poster = openPoster(
        target.port,
        () => {
          answers++
          poster.send(target.request)
        },
        failure.fail,
      )
      posters.push(poster)
      poster.send(target.request)
    }
    return await failure.or(measure(target.pid, seconds, () => answers))
  } finally {
    for (const poster of posters) poster.close()
  }
}
