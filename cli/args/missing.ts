import { ChatError } from '../../lib/core/errors.ts'

/** Names what a flag should have named: over HTTP, a missing thing looks like a foreign one. */
export async function named<T>(thing: string, id: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'not_found') throw error
    throw new ChatError('not_found', { message: `There is no ${thing} "${id}".`, cause: error })
  }
}

/** Names what exists already, which over HTTP is any conflict. */
export async function unlessTaken<T>(thing: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'conflict') throw error
    throw new ChatError('conflict', { message: `There is ${thing} already.`, cause: error })
  }
}
