import { writeFile } from 'node:fs/promises'
import { replaceFile } from '../../lib/storage/archive/files.ts'

/**
 * Writes a new file that only this user may read. Under `--force` one that is there is replaced, once all of the new one
 * is on the disk.
 *
 * @throws Error when it is there already
 */
export async function writeNewFile(
  path: string,
  text: string,
  { force = false }: { force?: boolean | undefined },
): Promise<void> {
  await replaceFile(path, { force }, (partial) => writeFile(partial, text))
}
