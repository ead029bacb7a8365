import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { MEMORY } from './memory.ts'

/** Settings of a service with files, in a folder that is removed at the end of the suite. */
export async function filesInFolder(): Promise<{ enabled: true; storage: string }> {
  const folder = await mkdtemp(join(MEMORY, 'chat-files-'))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return { enabled: true, storage: `fs:${folder}` }
}
