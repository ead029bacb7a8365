import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatTarget } from './deliver.ts'
import { marker } from './marker.ts'
import { openPoster } from './poster.ts'

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
const MAX_IN_PROGRESS = 1_000

/** How long the last answers may take. */
const DRAIN_MS = 10_000

/** Node ends idle connections after 5 s. */
const MAX_IDLE_MS = 2_500

interface Connection {
  idle_since: number
  /** Posts; it is idle again when the answer has come. */
  send(seq: number): void
  close(): void
}

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
  const open = new Set<Connection>()
  const idle: Connection[] = []
  let sent = 0
  let timer: NodeJS.Timeout | undefined
  let due = performance.now()

  function connect(): Connection {
    let posted: { seq: number; at: number } | undefined
    const onAnswer = () => {
      const { seq, at } = posted!
      posted = undefined
      posts.answered++
      connection.idle_since = performance.now()
      idle.push(connection)
      answered(seq, performance.now() - at)
    }
    // The server ends connections that are idle for long.
    const poster = openPoster(port, onAnswer, (error) => posted && fail(error))
    const connection: Connection = {
      idle_since: 0,
      send(seq) {
        posted = { seq, at: performance.now() }
        poster.send(before + marker(seq) + after)
      },
      close: poster.close,
    }
    open.add(connection)
    return connection
  }

  /** A connection that is idle, but not for so long that the server might just end it. */
  function takeIdle(): Connection | undefined {
    for (let next = idle.pop(); next; next = idle.pop()) {
      if (performance.now() - next.idle_since < MAX_IDLE_MS) return next
      next.close()
      open.delete(next)
    }
    return undefined
  }

  function next(): void {
    for (; due <= performance.now(); due += (Math.random() * 2000) / perSecond) {
      if (sent - posts.answered >= MAX_IN_PROGRESS) {
        fail(new Error(`the server did not answer ${perSecond} posts a second`))
        return
      }
      const connection = takeIdle() ?? connect()
      connection.send(sent++)
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
      for (const connection of open) connection.close()
    },
  }
  next()
  return posts
}
