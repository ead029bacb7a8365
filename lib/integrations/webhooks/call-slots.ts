import { createSlots, type Release } from '../../core/scheduling/slots.ts'
import { type Held, isSuspect } from './held.ts'

/** How many calls one host and port gets at a time. */
const MAX_PER_HOST = 16

/**
 * Limits the calls of this process: of all, of each host, and of the webhooks whose receivers may not answer at all, which
 * have half of the slots.
 */
export function createCallSlots(max: () => number) {
  const all = createSlots({ max, perKey: MAX_PER_HOST })
  const suspects = createSlots({ max: () => Math.max(1, Math.floor(max() / 2)), perKey: MAX_PER_HOST })

  function tryAcquire(held: Held): Release | undefined {
    const { host } = held.webhook
    const outer = isSuspect(held) ? suspects.tryAcquire(host) : () => {}
    const inner = outer && all.tryAcquire(host)
    if (!inner) outer?.()
    return inner && both(inner, outer)
  }

  return {
    /** A slot for each of up to `count` calls: waits for the first one only. */
    async acquire(held: Held, count: number): Promise<Release[]> {
      const { host } = held.webhook
      // A host whose calls wait holds up only as many others as it may have.
      const outer = isSuspect(held) ? await suspects.acquire(host) : () => {}
      const inner = await all.acquire(host)
      const releases = [both(inner, outer)]
      while (releases.length < count) {
        const release = tryAcquire(held)
        if (!release) break
        releases.push(release)
      }
      return releases
    },
  }
}

const both = (first: Release, second: Release) => () => {
  first()
  second()
}
