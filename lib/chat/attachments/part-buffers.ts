import { PART_BYTES } from './schema.ts'

/** How many buffers wait to be used again. */
const MAX_KEPT = 8

/**
 * The buffers of parts that are being received. Those of whole parts are used again while parts arrive: new memory for each
 * would have to be cleared by the system, and collected. Nothing is kept when no part is under way.
 */
export function createPartBuffers() {
  const kept: Uint8Array[] = []
  let inUse = 0

  return {
    /** Runs `work` with a buffer of `length` bytes, which may have any content, and belongs to others once `work` has ended. */
    async use<T>(length: number, work: (buffer: Uint8Array) => Promise<T>): Promise<T> {
      const isWhole = length === PART_BYTES
      // Not of Node's pool: it is large, and kept while it is stored.
      const buffer = (isWhole && kept.pop()) || Buffer.allocUnsafeSlow(length)
      inUse++
      try {
        return await work(buffer)
      } finally {
        inUse--
        if (isWhole && kept.length < MAX_KEPT) kept.push(buffer)
        if (inUse === 0) kept.length = 0
      }
    },
  }
}
