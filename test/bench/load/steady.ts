import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatTarget } from './deliver.ts'
import { marker } from './marker.ts'
import { openPoster, type Poster } from './poster.ts'

/** Posts at a rate of its own, however long the answers take. */
export interface SteadyPosts {
  /** Posts answered so far. */
  answered: number
  /** Sends no more, and waits until all that were sent are answered. @returns the number of posts sent */
  stop(): Promise<number>
  /** Ends the connections. */
  close(): void
}

/** More posts in progress than this: the server does not keep up with the rate. */
const MAX_CONNECTIONS = 200

/** How long the last answers may take. Node ends idle connections after 5 s. */
const DRAIN_MS = 4_000

/**
 * Begins to post, on average `perSecond` times a second. The gaps vary from none to twice the average, so that nothing
 * which the server does at intervals falls into step with them.
 *
 * @param answered gets the number of a post, and how long its answer took in milliseconds
 */
export function postSteadily(
  { port, post: [before, after] }: Pick<ChatTarget, 'port' | 'post'>,
  perSecond: number,
  fail: (error: Error) => void,
  answered: (seq: number, ms: number) => void = () => {},
): SteadyPosts {
  const posters: Poster[] = []
  const idle: ((seq: number) => void)[] = []
  let sent = 0
  let timer: NodeJS.Timeout | undefined
  let due = performance.now()

  /** @returns a function that posts on a connection of its own */
  function connect(): (seq: number) => void {
    let posted = { seq: 0, at: 0 }
    const poster = openPoster(
      port,
      () => {
        posts.answered++
        idle.push(send)
        answered(posted.seq, performance.now() - posted.at)
      },
      fail,
    )
    posters.push(poster)
    const send = (seq: number) => {
      posted = { seq, at: performance.now() }
      poster.send(before + marker(seq) + after)
    }
    return send
  }

  function next(): void {
    for (; due <= performance.now(); due += (Math.random() * 2000) / perSecond) {
      if (idle.length === 0 && posters.length >= MAX_CONNECTIONS) {
        fail(new Error(`the server did not answer ${perSecond} posts a second`))
        return
      }
      const send = idle.pop() ?? connect()
      send(sent++)
    }
    timer = setTimeout(next, due - performance.now())
  }

  const posts: SteadyPosts = {
    answered: 0,
    async stop() {
      clearTimeout(timer)
      const end = performance.now() + DRAIN_MS
      while (posts.answered < sent) {
        if (performance.now() > end) throw new Error('a post was not answered')
        await sleep(5)
      }
      return sent
    },
    close() {
      clearTimeout(timer)
      for (const poster of posters) poster.close()
    },
  }
  next()
  return posts
}
