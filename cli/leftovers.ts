import { tmpdir } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { Config } from '../lib/config/parse.ts'
import { type Abandoned, listAbandoned, removeAbandoned } from '../lib/storage/temporary.ts'
import { sqliteFile } from './doctor/files.ts'

/** The temporary files that killed processes have left next to the database, and in the folders for backups and for temporary files. */
export async function listLeftovers({ backup, database }: Pick<Config, 'backup' | 'database'>): Promise<Abandoned[]> {
  const target = backup.target === undefined || /^s3:/.test(backup.target) ? [] : [resolve(backup.target)]
  const folders = new Set([...ownFolders(database), ...target])
  return (await Promise.all([...folders].map(listAbandoned))).flat()
}

/** Deletes what {@link listLeftovers} lists, but for the folder of backups: each backup deletes what that contains. */
export async function removeLeftovers({ database }: Pick<Config, 'database'>): Promise<void> {
  await Promise.all(ownFolders(database).map(removeAbandoned))
}

function ownFolders({ url }: Config['database']): string[] {
  const file = sqliteFile(url)
  return [...(file === undefined ? [] : [dirname(file)]), tmpdir()]
}
