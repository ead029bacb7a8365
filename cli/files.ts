import { filesPlace, storesFiles } from '../lib/config/attachments.ts'
import { type CopiedFiles, copyFiles } from '../lib/files/copy.ts'
import { type FileStore, openFileStore } from '../lib/files/file-store.ts'
import { claim, examine } from '../lib/files/place.ts'
import { countFilesWithBytes } from '../lib/files/store.ts'
import { hasTable } from '../lib/storage/catalog.ts'
import type { Database } from '../lib/storage/database.ts'
import { UsageError } from './args/command.ts'
import { type ConfigFlags, loadConfig } from './config/load.ts'
import { consentNote } from './consent.ts'
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

/** Copies the files with these ids into the folder. @param beside their place, if not the storage of the service */
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
  const isOn = loadConfig(flags).config.attachments.enabled === true
  if (files === undefined && (beside === undefined || !isOn)) {
    if (isOn) await withStorage(flags, ({ db }) => noteMissing(flags, db))
    return {}
  }
  const from = files === undefined ? beside! : openFileStore(`fs:${files}`)
  const copied = await withStorage(flags, ({ db }) =>
    copyBetween(flags, db, (to) => ({ from, to }), { prepare: claimTarget }),
  )
  if (copied.files) await repairFiles(flags, copied.files.missing > 0)
  return copied
}

/** Gives lost files that have come back their bytes again, and marks those that are missing as gone, if they are few. */
async function repairFiles(flags: FilesFlags, isAnyMissing: boolean): Promise<void> {
  // An older database has no lost files, and a start migrates it.
  const steps = await withStorage(flags, (storage) => storage.migrations())
  if (!steps.every((step) => step.applied_at)) return
  await withChat(flags, async (chat) => {
    if (!isAnyMissing) return chat.ops.recoverFiles()
    const checked = await chat.ops.fsckFiles({ repair: true })
    if (checked.needs_consent) printNote(consentNote(checked))
  })
}

/** Without the files, every read of one is 503 until they are restored: the operator must know. */
async function noteMissing(flags: FilesFlags, db: Database): Promise<void> {
  if (!(await hasTable(db, 'attachments'))) return
  const store = openFileStore(filesPlace(loadConfig(flags).config))
  const state = await examine(db, store)
    .then((found) => found.state)
    .catch(() => undefined)
  await store.close()
  if (state === 'shared') printNote(sharedNote(store.place))
  if (state !== 'missing') return
  const count = await countFilesWithBytes(db)
  printNote(
    `${store.place} has none of the ${count} files of messages: until they are there, reads and uploads are 503. Restore them with --files, or copy them there and run "chat-server attachments adopt". If they are lost: "chat-server fsck --files --repair --accept-loss ${count}".`,
  )
}

const sharedNote = (place: string) =>
  `${place} belongs to another database, so this one deletes nothing there. If it takes the place of that one, run "chat-server attachments adopt".`

/** Such as `, and 12 files (3 MiB)`. */
export function filesText({ files }: { files?: Pick<CopiedFiles, 'files' | 'parts' | 'bytes'> }): string {
  if (!files) return ''
  return `, and ${files.files} files (${files.parts} parts copied, ${Math.round(files.bytes / 2 ** 20)} MiB)`
}

/** The storage gets its marker with the first bytes. One that another database has marked stays the other's. */
async function claimTarget(db: Database, to: FileStore): Promise<void> {
  const { state } = await claim(db, to, { keep: true })
  if (state === 'shared') printNote(sharedNote(to.place))
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
  if (!storesFiles(config))
    throw new UsageError('--files: attachments.enabled and avatars.enabled are false, so there are no files')
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
