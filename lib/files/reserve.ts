import type { Space } from '../storage/space.ts'

const MAX_RESERVE_BYTES = 512 * 1024 * 1024

/**
 * What uploads leave free on a disk, in bytes: a small one would have no room for files otherwise.
 *
 * @param configured holds as it is
 */
export function reservedBytes(configured: number | undefined, { total }: Pick<Space, 'total'>): number {
  return configured ?? Math.min(MAX_RESERVE_BYTES, Math.floor(total / 20))
}
