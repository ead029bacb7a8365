import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from './failure.ts'
import { WARM_UP_MS } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'

/**
 * Sends requests at the same moment, each on a connection of its own, and again when all of them are answered, for one
 * round.
 *
 * @returns how long each of them took every time in the measured part, in milliseconds
 */
export async function timeTogether(port: number, requests: string[], seconds: number): Promise<number[][]> {
  const { fail, or } = createFailure()
  const times: number[][] = requests.map(() => [])
  let sent = 0
  let open = 0
  const send = () => {
    open = requests.length
    sent = performance.now()
    for (const [n, poster] of posters.entries()) poster.send(requests[n]!)
  }
  const posters: Poster[] = requests.map((_, n) =>
    openPoster(
      port,
      () => {
        times[n]!.push(performance.now() - sent)
        if (--open === 0) send()
      },
      fail,
    ),
  )
  try {
    send()
    await or(sleep(WARM_UP_MS))
    for (const each of times) each.splice(0)
    await or(sleep(seconds * 1000))
    if (times.some((each) => each.length === 0)) throw new Error('a request was not answered in a round')
    return times
  } finally {
    for (const poster of posters) poster.close()
  }
}
