import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openTarget } from '../../lib/backups/backups.ts'
import { filesPlace } from '../../lib/config/attachments.ts'
import type { Config } from '../../lib/config/parse.ts'
import { openFileStore } from '../../lib/files/file-store.ts'
import type { Space } from '../../lib/storage/space.ts'
import { judgeFree, sqliteFile } from './files.ts'
import type { Finding } from './finding.ts'

/**
 * The findings about the disks of the folders of files and of backups, each disk once: that of a SQLite file has its own.
 * Folders that do not exist are found elsewhere, and the disk below a missing mount proves nothing.
 */
export async function checkDisks(config: Config): Promise<Finding[]> {
  const { attachments, backup, database } = config
  const file = sqliteFile(database.url)
  const folders: [folder: string | undefined, space: () => Promise<Space | undefined>][] = [
    [
      attachments.enabled ? /^fs:(.+)$/s.exec(filesPlace(config))?.[1] : undefined,
      async () => openFileStore(filesPlace(config)).space(),
    ],
    [backup.target?.startsWith('s3://') ? undefined : backup.target, async () => openTarget(config).space?.()],
  ]
  const seen = new Set([file && deviceOf(dirname(file))])
  const findings: Finding[] = []
  for (const [folder, read] of folders) {
    const device = folder === undefined ? undefined : deviceOf(folder)
    if (device === undefined || seen.has(device)) continue
    seen.add(device)
    const space = await read().catch(() => undefined)
    if (space) findings.push(judgeFree(space.free, `in ${resolve(folder!)}`))
  }
  return findings
}

/** The device of an existing folder. */
function deviceOf(folder: string): number | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.dev
  } catch {
    return undefined
  }
}
