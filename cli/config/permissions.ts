import { writeFile } from 'node:fs/promises'
import { replaceFile } from '../../lib/storage/archive/files.ts'

/**
 * Writes a new file that only this user can read. With `force` it replaces an existing file, once the new one is
 * completely on disk.
 *
 * @throws Error if the file exists
 */
export async function writeNewFile(
  path: string,
  text: string,
  { force = false }: { force?: boolean | undefined },
): Promise<void> {
  await replaceFile(path, { force }, (partial) => writeFile(partial, text))
}
