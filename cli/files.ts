import { closeSync, openSync, writeFileSync } from 'node:fs'

/**
 * Opens a new file for writing that only this user may read, or empties one under `--force`.
 *
 * @throws Error when it is there already
 */
export function openNewFile(path: string, { force = false }: { force?: boolean | undefined }): number {
  try {
    return openSync(path, force ? 'w' : 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(`${path} is there already; --force replaces it`, { cause: error })
  }
}

/** Writes such a file at once. @throws Error when it is there already */
export function writeNewFile(path: string, text: string, options: { force?: boolean | undefined }): void {
  const file = openNewFile(path, options)
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}
