import { open } from 'node:fs/promises'
import { withTemporary } from '../temporary.ts'

/** A copy of a database in one consistent state, until it is closed. */
export interface Copy {
  bytes: AsyncIterable<Uint8Array>
  size: number
  close(): Promise<void>
}

/**
 * Makes a copy of a database next to it, where there is a disk with room for it that only this user reads. The copy has no
 * name any more when it is complete: when this process ends, in whatever way, the system deletes it.
 *
 * @param copy writes the copy into the empty file at this path
 */
export async function openCopy(file: string, copy: (path: string) => Promise<unknown>): Promise<Copy> {
  const handle = await withTemporary(file, async (path) => {
    await copy(path)
    return open(path)
  })
  const { size } = await handle.stat()
  // Its reader gets the error. Without a reader it would end the process.
  const bytes = handle.createReadStream({ autoClose: false }).on('error', () => {})
  return {
    bytes,
    size,
    async close() {
      bytes.destroy()
      await handle.close()
    },
  }
}
