import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'

/** Settings of a service with files, in a folder that is removed at the end of the run: in a hook, no suite has an end. */
export async function filesInFolder(): Promise<{ enabled: true; storage: string }> {
  const folder = await mkdtemp(join(inject('folder'), 'files-'))
  return { enabled: true, storage: `fs:${folder}` }
}
