import { filesPlace } from '../lib/config/attachments.ts'
import { type CopiedFiles, copyFiles } from '../lib/files/copy.ts'
import { type FileStore, openFileStore } from '../lib/files/file-store.ts'
import { claim } from '../lib/files/place.ts'
import { hasTable } from '../lib/storage/catalog.ts'
import type { Database } from '../lib/storage/database.ts'
import { UsageError } from './args/command.ts'
import { type ConfigFlags, loadConfig } from './config/load.ts'
import { printNote } from './output.ts'
import { showProgress } from './progress.ts'
import { untilInterrupted } from './signals.ts'
import { withChat, withStorage } from './with-chat.ts'

/** The folder with the files of messages, beside a backup or an archive. */
export const filesArg = {
  files: {
    type: 'string',
    valueHint: 'folder',
    description: 'Folder with the files of messages: what it has already is not copied again',
  },
} as const

type FilesFlags = ConfigFlags & { files?: string | undefined }

/** Copies the files that the database names into the folder, after a copy of the database. @returns nothing without one */
export async function saveFiles(flags: FilesFlags, db: Database): Promise<{ files?: CopiedFiles }> {
  if (flags.files === undefined) return {}
  return copyBetween(flags, db, (storage) => ({ from: storage, to: openFileStore(`fs:${flags.files}`) }))
}

/** The same of some files, by their ids. @param beside where the files are, unless in the storage of the service */
export function saveSomeFiles(
  flags: FilesFlags,
  db: Database,
  ids: readonly string[],
  beside?: FileStore,
): Promise<{ files?: CopiedFiles }> {
  if (flags.files === undefined) return Promise.resolve({})
  const to = openFileStore(`fs:${flags.files}`)
  return copyBetween(flags, db, (storage) => ({ from: beside ?? storage, to }), { ids })
}

/**
 * Copies the files that a filled database names from the folder. Those that are missing there show as gone.
 *
 * @param beside where the files are without the flag
 */
export async function loadFiles(flags: FilesFlags, beside?: FileStore): Promise<{ files?: CopiedFiles }> {
  const { files } = flags
  if (files === undefined && (beside === undefined || !loadConfig(flags).config.attachments.enabled)) return {}
  const from = files === undefined ? beside! : openFileStore(`fs:${files}`)
  const copied = await withStorage(flags, ({ db }) =>
    copyBetween(flags, db, (to) => ({ from, to }), { prepare: claimTarget }),
  )
  if (copied.files?.missing) await withChat(flags, (chat) => chat.ops.fsckFiles({ repair: true }))
  return copied
}

/** Such as `, and 12 files (3 MiB)`. */
export function filesText({ files }: { files?: Pick<CopiedFiles, 'files' | 'parts' | 'bytes'> }): string {
  if (!files) return ''
  return `, and ${files.files} files (${files.parts} parts copied, ${Math.round(files.bytes / 2 ** 20)} MiB)`
}

/** The storage gets its marker with the first bytes. One that another database has marked stays the other's. */
async function claimTarget(db: Database, to: FileStore): Promise<void> {
  const { state } = await claim(db, to, { keep: true })
  if (state === 'shared')
    printNote(
      `${to.place} belongs to another database, so this one deletes nothing there. If it takes the place of that one, run "chat-server attachments adopt".`,
    )
}

async function copyBetween(
  flags: FilesFlags,
  db: Database,
  places: (storage: FileStore) => { from: FileStore; to: FileStore },
  {
    prepare = async () => {},
    ids,
  }: { prepare?: (db: Database, to: FileStore) => Promise<void>; ids?: readonly string[] } = {},
): Promise<{ files?: CopiedFiles }> {
  const { config } = loadConfig(flags)
  if (!config.attachments.enabled) throw new UsageError('--files: attachments.enabled is false, so there are no files')
  if (!(await hasTable(db, 'blobs'))) {
    printNote('The database is of a version without files.')
    return {}
  }
  const between = places(openFileStore(filesPlace(config)))
  await prepare(db, between.to)
  const onProgress = ({ files, bytes }: CopiedFiles) =>
    showProgress(`${files} files, ${Math.round(bytes / 2 ** 20)} MiB`)
  const copied = await untilInterrupted('The copy of the files', (signal) =>
    copyFiles(db, between, { onProgress, signal, ...(ids && { ids }) }),
  )
  showProgress('')
  if (copied.missing > 0) {
    printNote(`${between.from.place} lacks ${copied.missing} files: ${copied.missing_ids.join(', ')}`)
    process.exitCode = 1
  }
  return { files: copied }
}
