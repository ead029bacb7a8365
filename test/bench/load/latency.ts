import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from './failure.ts'
import { WARM_UP_MS } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'

/**
 * Sends a request, and the same one or the next one as soon as it is answered, for one round.
 *
 * @returns how long each took in the measured part, in milliseconds
 */
export async function timeRequest(
  { port, request }: { port: number; request: string | string[] },
  seconds: number,
): Promise<number[]> {
  const { fail, or } = createFailure()
  const times: number[] = []
  const requests = [request].flat()
  let next = 0
  let sent = 0
  const send = () => {
    sent = performance.now()
    poster.send(requests[next++ % requests.length]!)
  }
  const onAnswer = () => {
    times.push(performance.now() - sent)
    send()
  }
  const poster: Poster = openPoster(port, onAnswer, fail)
  try {
    send()
    await or(sleep(WARM_UP_MS))
    times.splice(0)
    await or(sleep(seconds * 1000))
    return times
  } finally {
    poster.close()
  }
}

/** Long enough for what a request has caused to be over. */
const PAUSE_MS = 50

/** A 99th percentile needs so many. */
const LEAST = 100

/**
 * Sends a request on each of `size` connections at once, and again after a pause when all are answered, for one round.
 *
 * @returns how long each took, in milliseconds
 */
export async function timeBursts(
  { port, request }: { port: number; request: string },
  size: number,
  seconds: number,
): Promise<number[]> {
  const { fail, or } = createFailure()
  const times: number[] = []
  const answered: (() => void)[] = []
  const posters = Array.from({ length: size }, (_, n) => openPoster(port, () => answered[n]!(), fail))
  const send = (poster: Poster, n: number) =>
    new Promise<void>((resolve) => {
      const sent = performance.now()
      answered[n] = () => {
        times.push(performance.now() - sent)
        resolve()
      }
      poster.send(request)
    })
  try {
    const end = performance.now() + seconds * 1000
    while (performance.now() < end || times.length < LEAST) {
      await or(Promise.all(posters.map(send)))
      await or(sleep(PAUSE_MS))
    }
    return times
  } finally {
    for (const poster of posters) poster.close()
  }
}

/** What 99 of 100 do not exceed. */
export function p99(times: number[]): number {
  if (times.length < LEAST) throw new Error(`only ${times.length} requests were answered in a round`)
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]!
}
