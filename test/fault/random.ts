/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A seed to print, so that a failed run can be repeated: `CHAOS_SEED`, or a new one. */
export function newSeed(): number {
  return Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 32))
}
