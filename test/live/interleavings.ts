import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRandom, newSeed } from '../fault/random.ts'

/** One of many orders in which concurrent work can go on, chosen by a seed. */
export type Interleaving = ReturnType<typeof createInterleaving>

function createInterleaving(random: () => number) {
  const waiting: (() => void)[] = []
  const below = (most: number) => Math.floor(random() * most)
  // In some of them what has waited for long waits on.
  const isHasty = random() < 0.3

  /** Lets one part of the work go on. The next one may go on before all that follows from it has happened. */
  async function step(): Promise<void> {
    const index = isHasty && random() < 0.8 ? waiting.length - 1 : below(waiting.length)
    if (waiting.length > 0) waiting.splice(index, 1)[0]!()
    const ticks = below(6)
    if (ticks === 5) await nextTurn()
    else for (let i = 0; i < ticks; i++) await undefined
  }

  return {
    chance: (probability: number) => random() < probability,
    /** A whole number from 0 up to, but not, `most`. */
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)]!,
    /** Resolves in some later step, as an answer of a database does. */
    pause: () => new Promise<void>((resolve) => waiting.push(resolve)),
    /** Does this in some later step. */
    later: (work: () => void) => void waiting.push(work),
    step,
    /** Goes on until nothing waits. */
    async settle(): Promise<void> {
      for (let isIdle = false; !isIdle; ) {
        while (waiting.length > 0) await step()
        await nextTurn()
        isIdle = waiting.length === 0
      }
    },
  }
}

/** Runs a story in many interleavings; the error of one that fails has the seed to repeat it. */
export async function inManyInterleavings(count: number, story: (work: Interleaving) => Promise<void>): Promise<void> {
  const first = newSeed()
  for (let seed = first; seed < first + count; seed++) {
    await story(createInterleaving(createRandom(seed))).catch((cause) => {
      throw new Error(`CHAOS_SEED=${seed} repeats this: ${cause.message}`, { cause })
    })
  }
}
