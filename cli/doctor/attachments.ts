import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { sumOfBlobs } from '../../lib/chat/attachments/store-blobs.ts'
import { countGone } from '../../lib/chat/attachments/store-checking.ts'
import { filesPlace } from '../../lib/config/attachments.ts'
import type { Config } from '../../lib/config/parse.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { newId } from '../../lib/core/ids.ts'
import { MIB } from '../../lib/core/units.ts'
import { openFileStore } from '../../lib/files/file-store.ts'
import { examine } from '../../lib/files/place.ts'
import { reservedBytes } from '../../lib/files/reserve.ts'
import type { Storage } from '../../lib/storage/open.ts'
import type { Space } from '../../lib/storage/space.ts'
import { toErrorMessage } from '../errors.ts'
import { type Finding, failure, note, ok, skipped, warning } from './finding.ts'
import { type FilesElsewhere, findFilesElsewhere, some } from './nodes.ts'

/** From this part of the maximum on, uploads are about to be refused. */
const NEARLY_FULL = 0.9

/** The findings about the files of messages; none if they are off, and then nothing is opened. */
export async function checkAttachments(config: Config, storage: Storage, read_only: boolean): Promise<Finding[]> {
  const { db } = storage
  const { enabled, total_bytes } = config.attachments
  if (!enabled) return []
  return [
    judgeSize((await sumOfBlobs(db)).bytes, total_bytes),
    ...(await checkPlace(config, storage, read_only)),
    ...(await checkSpace(config)),
    ...judgeGone(await countGone(db)),
  ]
}

/** Compares the size of all files with `attachments.total_bytes`, of which 0 sets no limit. */
export function judgeSize(bytes: number, most: number): Finding {
  if (most === 0) return ok('attachments.size', `Files take ${inMib(bytes)}.`)
  const message = `Files take ${inMib(bytes)} of ${inMib(most)} (attachments.total_bytes).`
  const remedy = 'Raise attachments.total_bytes, or run "chat-server attachments gc" after the deletion of files.'
  if (bytes >= most) return warning('attachments.full', `${message} Uploads are refused.`, remedy)
  return bytes >= most * NEARLY_FULL
    ? warning('attachments.nearly_full', message, remedy)
    : ok('attachments.size', message)
}

/** The finding about files that messages show without their bytes. */
export function judgeGone(count: number): Finding[] {
  if (count === 0) return []
  const message = `${count} ${count === 1 ? 'file' : 'files'} of messages can be read no more: their bytes were deleted, or lost.`
  const remedy = 'If a restore or an import came without them, repeat it with --files. Else nothing is to be done.'
  return [note('attachments.gone', message, remedy)]
}

/** Compares the free space of a folder of files with what uploads leave there. */
async function checkSpace(config: Config): Promise<Finding[]> {
  const place = filesPlace(config)
  if (!place.startsWith('fs:')) return []
  const files = openFileStore(place)
  const space = await files.space().catch(() => undefined)
  await files.close()
  return space ? judgeSpace(space, reservedBytes(config.attachments.reserve_bytes, space)) : []
}

/** The finding about a disk whose last bytes are kept from uploads. */
export function judgeSpace({ free }: Pick<Space, 'free'>, reserve: number): Finding[] {
  if (free >= reserve) return []
  const message = `${inMib(free)} are free on the disk of the files, less than the ${inMib(reserve)} that uploads leave there (attachments.reserve_bytes). Uploads are refused.`
  return [warning('attachments.no_space', message, 'Free some space, or move the files to another disk.')]
}

/** Compares the marker of the storage with the database, before anything is written there. */
async function checkPlace(config: Config, storage: Storage, read_only: boolean): Promise<Finding[]> {
  const place = filesPlace(config)
  const files = openFileStore(place)
  const state = await examine(storage.db, files)
    .then((found) => found.state)
    .catch(() => undefined)
  await files.close()
  const elsewhere = await findFilesElsewhere(config, storage)
  if (state === 'missing') return [judgeMissing(files.place, elsewhere)]
  return [
    ...(state === 'shared' ? [judgeShared(files.place)] : []),
    ...judgeElsewhere(files.place, elsewhere),
    await checkStorage(place, read_only),
  ]
}

/** The finding about a storage that is not the one that the database has its files in. */
export function judgeMissing(place: string, { found_by }: Pick<FilesElsewhere, 'found_by'>): Finding {
  const elsewhere = found_by.length > 0 ? ` The node on ${some(found_by)} does find them: they are not lost.` : ''
  const message = `The files of messages are not in ${place}: its marker is missing, or another one. Reads and uploads are 503.${elsewhere}`
  const remedy =
    'Mount its disk, or correct attachments.storage. If the files were moved there by other means: "chat-server attachments adopt". If they are lost: restore them with --files, or "chat-server fsck --files --repair".'
  return failure('attachments.missing', message, remedy)
}

/** The finding about nodes that miss a storage which this command finds. */
export function judgeElsewhere(place: string, { missed_by }: Pick<FilesElsewhere, 'missed_by'>): Finding[] {
  if (missed_by.length === 0) return []
  const message = `The node on ${some(missed_by)} does not find the files of messages, which are in ${place} here. Reads and uploads there are 503.`
  const remedy = 'Mount the disk on that machine, or correct attachments.storage there.'
  return [failure('attachments.missing_elsewhere', message, remedy)]
}

/** The finding about a storage that another database owns. */
export function judgeShared(place: string): Finding {
  const message = `${place} belongs to another database: this one is a copy of it, or takes its place. It deletes nothing there.`
  const remedy =
    'If this database takes the place of the other one, run "chat-server attachments adopt". A copy needs nothing.'
  return warning('attachments.shared', message, remedy)
}

/** Writes a value to the storage of files, reads it, and deletes it. */
export async function checkStorage(place: string, read_only: boolean): Promise<Finding> {
  const folder = /^fs:(.+)$/s.exec(place)?.[1]
  // Otherwise this command would create it, maybe as another user than the service.
  if (folder !== undefined && !existsSync(folder))
    return note('attachments.no_folder', `${resolve(folder)} does not exist; the first upload creates it.`)
  if (read_only) return skipped('attachments.storage', 'With --read-only nothing is written to the storage of files.')
  try {
    const shown = await writeValue(place)
    return ok('attachments.storage', `Files can be stored in ${shown}.`)
  } catch (error) {
    return warning(
      'attachments.not_writable',
      `Files cannot be stored: ${reasonOf(error)}.`,
      'Correct attachments.storage, or the permissions there. Until then uploads fail; messages without files do not.',
    )
  }
}

/** @returns the place, to print */
async function writeValue(place: string): Promise<string> {
  const files = openFileStore(place)
  // As no upload has it: what is left of a test that was interrupted is deleted with other bytes that have no row.
  const key = `${newId()}/1`
  try {
    await files.put(key, PROBE)
    const value = await files.get(key)
    if (value === undefined || !PROBE.equals(value)) throw new Error('what was stored is not read again')
    return files.place
  } finally {
    await files.remove(key).catch(() => {})
    await files.close()
  }
}

const PROBE = Buffer.from('chat-server doctor')

function reasonOf(error: unknown): string {
  const cause = error instanceof ChatError ? error.cause : undefined
  return cause === undefined
    ? toErrorMessage(error)
    : `${toErrorMessage(error).replace(/\.$/, '')} (${toErrorMessage(cause)})`
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`
}
