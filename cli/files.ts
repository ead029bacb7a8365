import { writeFileSync } from 'node:fs'

/**
 * Writes a new file that only this user may read; under `--force` one that is there gets another content.
 *
 * @throws Error when it is there already
 */
export function writeNewFile(path: string, text: string, { force = false }: { force?: boolean | undefined }): void {
  try {
    writeFileSync(path, text, { flag: force ? 'w' : 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(`${path} is there already; --force replaces it`, { cause: error })
  }
}
