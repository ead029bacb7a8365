/** Lets a few searches run at a time, of which one caller has only some; further ones wait. */
export interface SearchSlots {
  /**
   * @param caller whose turn it is
   * @returns a function that ends the turn, called once; `undefined` if none is free before the deadline, a time of `performance.now`
   */
  acquire(caller: string, deadline: number): Promise<(() => void) | undefined>
}

/** The maximum number of waiting searches: further ones could hardly begin before their deadline. */
const MAX_WAITING = 100

/** The maximum number of waiting searches of one caller. */
const MAX_WAITING_PER_USER = 20

interface Waiter {
  caller: string
  begin(): void
}

function hasRoom(waiting: ReadonlySet<Waiter>, caller: string): boolean {
  const own = [...waiting].filter((waiter) => waiter.caller === caller)
  return waiting.size < MAX_WAITING && own.length < MAX_WAITING_PER_USER
}

/**
 * @param most how many turns there are at a time
 * @param share how many of them one caller can have at a time
 */
export function createSearchSlots(most: number, share: number): SearchSlots {
  const waiting = new Set<Waiter>()
  const taken = new Map<string, number>()
  let total = 0

  const mayBegin = (caller: string) => total < most && (taken.get(caller) ?? 0) < share

  function begin(caller: string): () => void {
    total++
    taken.set(caller, (taken.get(caller) ?? 0) + 1)
    return () => end(caller)
  }

  function end(caller: string): void {
    total--
    const left = taken.get(caller)! - 1
    if (left === 0) taken.delete(caller)
    else taken.set(caller, left)
    // The first one whose caller has not its share yet.
    for (const waiter of waiting)
      if (mayBegin(waiter.caller)) {
        waiter.begin()
        return
      }
  }

  return {
    acquire(caller, deadline) {
      if (mayBegin(caller)) return Promise.resolve(begin(caller))
      if (!hasRoom(waiting, caller)) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        const stop = () => {
          clearTimeout(timer)
          waiting.delete(waiter)
        }
        const waiter: Waiter = {
          caller,
          begin() {
            stop()
            resolve(begin(caller))
          },
        }
        const timer = setTimeout(
          () => {
            stop()
            resolve(undefined)
          },
          Math.max(0, deadline - performance.now()),
        )
        waiting.add(waiter)
      })
    },
  }
}
