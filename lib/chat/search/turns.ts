/** Lets a few searches run at a time; further ones wait. */
export interface Turns {
  /** @returns a function that ends the turn, called once; `undefined` if none is free before the deadline, a time of `performance.now` */
  take(deadline: number): Promise<(() => void) | undefined>
}

/** Beyond so many that wait, further ones get no turn: they could hardly have one before their deadline. */
const MOST_WAITING = 100

/** @param most how many turns there are at a time */
export function createTurns(most: number): Turns {
  const waiting = new Set<() => void>()
  let taken = 0

  function end(): void {
    taken--
    const [next] = waiting
    next?.()
  }

  return {
    take(deadline) {
      const begin = () => {
        taken++
        return end
      }
      if (taken < most) return Promise.resolve(begin())
      if (waiting.size >= MOST_WAITING) return Promise.resolve(undefined)
      return new Promise((resolve) => {
        const next = () => {
          stop()
          resolve(begin())
        }
        const timer = setTimeout(
          () => {
            stop()
            resolve(undefined)
          },
          Math.max(0, deadline - performance.now()),
        )
        const stop = () => {
          clearTimeout(timer)
          waiting.delete(next)
        }
        waiting.add(next)
      })
    },
  }
}
