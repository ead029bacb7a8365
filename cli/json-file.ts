import { readFile, stat } from 'node:fs/promises'
import { ChatError, MESSAGES } from '../lib/core/errors.ts'

/** More than the longest input that has a form of its own. */
const MAX_BYTES = 2 ** 20

/** The JSON of a file. @throws Error for a file that is none, is larger than 1 MiB, or is not JSON in UTF-8 */
export async function readJsonFile(path: string): Promise<unknown> {
  const stats = await stat(path)
  // The size of a pipe is not known before it is read.
  if (!stats.isFile()) throw new Error(`${path} is not a file`)
  if (stats.size > MAX_BYTES) throw new Error(`${path} is larger than 1 MiB`)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)))
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause
    throw new Error(`${path} is not valid JSON in UTF-8`, { cause })
  }
}

/** Names the file and its form where the service refuses what is in it: its fields are no flags. */
export async function inFile<T>(path: string, form: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChatError) || error.message !== MESSAGES.validation_failed) throw error
    const errors = error.errors?.filter((problem) => problem.path !== '') ?? []
    throw new ChatError('validation_failed', { message: `${path} must be ${form}`, errors, cause: error })
  }
}
