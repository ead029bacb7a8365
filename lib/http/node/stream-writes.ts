import type { Writable } from 'node:stream'

/** To how many streams a turn of the event loop writes in which a request has arrived, and at most in one without. */
const PER_TURN = { busy: 16, quiet: 128 }

/** While requests keep the turns long, about how long a write may wait. */
const WITHIN_MS = 100

/** More bytes than these do not wait: whether a client is slow, its connection tells. */
const MAX_WAITING = 64 * 1024

/** Where a stream writes to: the bytes wait for a turn of the event loop. */
export interface StreamOutput {
  write(bytes: Uint8Array): void
  /** The number of written bytes that the client has not yet received. */
  pending(): number
  /** Passes on what waits, at once. */
  flush(): void
  /** Drops what waits: the connection is closed. */
  close(): void
}

/** Opens the outputs of the streams of a process, which take turns. */
export interface StreamWrites {
  open(to: Writable): StreamOutput
}

/**
 * Creates the queue of what the event streams of a process write.
 *
 * A write is a call of the system for each stream, so a delivery to a thousand readers takes milliseconds. In the turn in
 * which it was committed, the response to the post would wait for them, and so would each request that arrives meanwhile.
 * Here the first write comes in the next turn, and each turn has a part of them: more and more while no request arrives.
 * What is delivered to a stream before its next write goes into the same one.
 *
 * @param arrivals the number of requests so far
 */
export function createStreamWrites(arrivals: () => number): StreamWrites {
  const waiting = new Set<() => void>()
  const shareOf = createShares(arrivals)
  let last: number | undefined

  function schedule(): void {
    if (last !== undefined) return
    last = performance.now()
    setImmediate(writeSome)
  }

  function writeSome(): void {
    let count = shareOf(waiting.size, performance.now() - last!)
    for (const flush of waiting) {
      if (count-- <= 0) break
      flush()
    }
    last = undefined
    if (waiting.size > 0) schedule()
  }

  return {
    open: (to) =>
      createOutput(to, {
        add(flush) {
          waiting.add(flush)
          schedule()
        },
        remove: (flush) => void waiting.delete(flush),
      }),
  }
}

/** To how many of the streams that wait a turn writes, which follows the last one after so many milliseconds. */
function createShares(arrivals: () => number): (waiting: number, elapsed: number) => number {
  let seen = arrivals()
  let perTurn = PER_TURN.busy
  return (waiting, elapsed) => {
    const isQuiet = arrivals() === seen
    seen = arrivals()
    perTurn = isQuiet ? Math.min(2 * perTurn, PER_TURN.quiet) : PER_TURN.busy
    return Math.max(perTurn, (waiting * elapsed) / WITHIN_MS)
  }
}

/** Adds and removes a stream by the function that passes on what waits in it. */
interface Queue {
  add(flush: () => void): void
  remove(flush: () => void): void
}

function createOutput(to: Writable, queue: Queue): StreamOutput {
  let kept: Uint8Array[] = []
  let bytes = 0

  function take(): Uint8Array[] {
    const taken = kept
    kept = []
    bytes = 0
    queue.remove(flush)
    return taken
  }

  function flush(): void {
    const taken = take()
    if (taken.length > 1) to.cork()
    for (const each of taken) to.write(each)
    if (taken.length > 1) to.uncork()
  }

  return {
    write(each) {
      kept.push(each)
      bytes += each.length
      if (bytes > MAX_WAITING) flush()
      else queue.add(flush)
    },
    pending: () => bytes + to.writableLength,
    flush,
    close: () => void take(),
  }
}
