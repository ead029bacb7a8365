import { hash } from 'node:crypto'
import { keyOfPart } from '../../chat/attachments/rules.ts'
import {
  findBlobs,
  findWithPhoto,
  isLive,
  listUnderWay,
  listWhole,
  listWithBlob,
  type WholeBlob,
} from '../../chat/attachments/store-checking.ts'
import type { Context } from '../../context.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { assertKnown } from '../../core/use-case.ts'
import type { FileStore } from '../../files/file-store.ts'
import { claim, examine, type PlaceCheck } from '../../files/place.ts'
import type { Finding } from '../fsck/fsck.ts'
import { type BlobState, checkBlob } from './blob-check.ts'
import { markLost, recoverFiles } from './lost-files.ts'

/** The number of rows, or keys, of one step. */
const BATCH = 500

/** The number of ids listed of each finding. */
const MAX_EXAMPLES = 10

/** How to check the storage of files. */
export interface FileCheckOptions {
  /** Reads all bytes, and compares their digests. Default: their sizes are compared. */
  read?: boolean
  /** Marks files whose bytes are missing or differ as `gone`, after a count. */
  repair?: boolean
  /** The number of these files: a repair marks that many, also if the storage is missing, or they are many. */
  accept_loss?: number
  /** Called with the number of files, and of their bytes, that were checked so far. */
  onProgress?: (files: number, bytes: number) => void
}

const FILE_CHECK_OPTIONS: NamesOf<FileCheckOptions> = { read: 0, repair: 0, accept_loss: 0, onProgress: 0 }

/** The result: `findings` is empty if no bytes are missing. */
export interface FileCheckup {
  files: number
  bytes: number
  /** Files among them whose bytes are missing or differ. */
  missing: number
  /** Files that a repair has given their bytes again. */
  recovered: number
  /** A repair has marked no file: it needs `accept_loss`. */
  needs_consent?: true
  findings: Finding[]
}

/**
 * Compares the database with the storage of files, while the service runs: whether the bytes of every file exist, and
 * whether the storage has others.
 *
 * A repair gives files back whose bytes have come back, counts, and then marks the others as gone. If the storage is missing,
 * or more than one in twenty files and more than two are, it marks none without `accept_loss`.
 *
 * @throws ChatError `unavailable` if the storage does not answer
 */
export async function fsckFiles(ctx: Context, options: FileCheckOptions = {}): Promise<FileCheckup> {
  assertKnown(options, FILE_CHECK_OPTIONS)
  const { read = false, repair = false, accept_loss } = options
  const files = await ctx.files.place.unguarded()
  const lookAway = async () => {
    const findings = await examine(ctx.db, files)
    return findings.state === 'missing' ? findings : undefined
  }
  const wasAway = await lookAway()
  const recovered = repair ? (await recoverFiles(ctx)).recovered : 0
  const checked = await checkBlobs(ctx, files, options)
  // A disk that was unmounted in between has made files missing, and they may be few.
  const away = wasAway ?? (await lookAway())
  const consents = !(away || isMany(checked)) || accept_loss === checked.missing
  const isRepaired = repair && consents
  if (isRepaired) await letGoOf(ctx, files, { lost: checked.lost, read })
  if (isRepaired && away) await claim(ctx.db, files, { anew: true })
  const uploads = collect('upload-bytes', 'The parts of uploads under way are in the storage.')
  await checkUploads(ctx, files, { read, uploads })
  const unknown = collect('file-garbage', 'The storage has no bytes that no row names.')
  for await (const key of listGarbage(ctx, files)) unknown.add(key)
  const lost = away ? AWAY : repair ? MANY : LOST
  const findings = [
    ...(away && !isRepaired ? findingOf(files, away) : []),
    ...checked.findings.flatMap((finding) => finding.finding(isRepaired, lost)),
    ...uploads.finding(false, UPLOADS),
    ...unknown.finding(false, GARBAGE, true),
  ]
  const needs_consent = repair && !consents && checked.missing > 0 && { needs_consent: true as const }
  return { files: checked.files, bytes: checked.bytes, missing: checked.missing, recovered, ...needs_consent, findings }
}

/** This many files are rarely lost one by one: more likely, their place is wrong. */
const isMany = ({ files, missing }: { files: number; missing: number }) => missing > 2 && missing * 20 > files

/** A place without the marker of the files: what is missing there may be elsewhere. */
function findingOf({ place }: FileStore, { storage }: PlaceCheck): Finding[] {
  const found = `${place}, which has ${storage === undefined ? 'no marker' : 'the marker of another storage'}`
  return [
    {
      name: 'file-storage',
      says: 'The storage has the marker of these files.',
      count: 1,
      examples: [found],
      remedy: ADOPT,
    },
  ]
}

const ADOPT =
  'Mount its disk, or correct attachments.storage. If the files were moved there by other means, run "chat-server attachments adopt".'
const AWAY = 'Nothing, until the storage is there (file-storage).'
const MANY = 'Copy the files from a backup ("chat-server restore --files").'
const LOST =
  'Copy the files from a backup ("chat-server restore --files"), or run "chat-server fsck --files --repair": it marks them as gone.'
const UPLOADS = 'Nothing: they end within a day. Their users upload these files again.'
const GARBAGE = 'Run "chat-server attachments gc", which deletes them.'

interface CheckedBlobs {
  files: number
  bytes: number
  missing: number
  /** Blobs whose bytes are missing or differ. */
  lost: WholeBlob[]
  findings: Collected[]
}

/** Compares all blobs of files, thumbnails and photos with the storage; changes nothing. */
async function checkBlobs(
  ctx: Context,
  files: FileStore,
  { read = false, onProgress }: FileCheckOptions,
): Promise<CheckedBlobs> {
  const missing = collect('file-bytes', 'The bytes of every file are in the storage.')
  const wrong = collect('file-digests', 'The bytes of every file are those that were uploaded.')
  const thumbnails = collect('file-thumbnails', 'The bytes of every thumbnail are in the storage.')
  const photos = collect('file-photos', 'The bytes of every photo that a user has set are in the storage.')
  const findings = [missing, wrong, thumbnails, photos]
  const checked: CheckedBlobs = { files: 0, bytes: 0, missing: 0, lost: [], findings }
  for (let after = ''; ; ) {
    const blobs = await listWhole(ctx.db, after, BATCH)
    for (const blob of blobs) {
      const state = await checkBlob(files, blob, read)
      if (state !== 'there' && (await isLive(ctx.db, blob.id))) {
        checked.lost.push(blob)
        for (const row of await listWithBlob(ctx.db, blob.id)) {
          if (row.blob_id === blob.id) checked.missing++
          collectorOf(state, row.blob_id === blob.id).add(row.id)
        }
        const owner = await findWithPhoto(ctx.db, blob.id)
        if (owner !== undefined) photos.add(owner)
      }
      checked.files += Number(blob.files)
      checked.bytes += Number(blob.files) > 0 ? Number(blob.size) : 0
      onProgress?.(checked.files, checked.bytes)
    }
    if (blobs.length < BATCH) return checked
    after = blobs.at(-1)!.id
  }

  function collectorOf(state: BlobState, isFile: boolean): Collected {
    if (!isFile) return thumbnails
    return state === 'missing' ? missing : wrong
  }
}

/** The files whose bytes are not there: how many, and some of them. */
export async function findMissing(ctx: Context, files: FileStore): Promise<{ missing: number; missing_ids: string[] }> {
  const { missing, findings } = await checkBlobs(ctx, files, {})
  const [gone, wrong] = findings
  return { missing, missing_ids: [gone!, wrong!].flatMap((each) => each.finding(false, '')[0]?.examples ?? []) }
}

/** Marks the files of these blobs, unless their bytes have come back, or they were released since. */
async function letGoOf(
  ctx: Context,
  files: FileStore,
  { lost, read }: { lost: readonly WholeBlob[]; read: boolean },
): Promise<void> {
  for (const blob of lost)
    if ((await checkBlob(files, blob, read)) !== 'there' && (await isLive(ctx.db, blob.id)))
      await markLost(ctx, blob.id)
}

function collect(name: string, says: string) {
  const examples: string[] = []
  let count = 0
  return {
    add(id: string): void {
      if (count++ < MAX_EXAMPLES) examples.push(id)
    },
    finding(isRepaired: boolean, remedy: string, isNote = false): Finding[] {
      if (count === 0) return []
      const repaired = isRepaired && { repaired: true as const, remedy: 'Nothing: it is repaired.' }
      return [{ name, says, count, examples, remedy, ...(isNote && { note: true as const }), ...repaired }]
    },
  }
}

type Collected = ReturnType<typeof collect>

/** The parts of uploads that are not complete. */
async function checkUploads(
  { db }: Context,
  files: FileStore,
  { read, uploads }: { read: boolean; uploads: Collected },
): Promise<void> {
  for (let place = { attachment_id: '', n: 0 }; ; ) {
    const parts = await listUnderWay(db, place, BATCH)
    for (const { attachment_id, n, blob_id, digest } of parts) {
      const bytes = read ? await files.get(keyOfPart(blob_id, n)) : undefined
      const isThere = read
        ? bytes !== undefined && hash('sha256', bytes, 'base64url') === digest
        : (await files.sizes(blob_id)).has(Number(n))
      if (!isThere) uploads.add(attachment_id)
    }
    if (parts.length < BATCH) return
    place = parts.at(-1)!
  }
}

/** The keys of bytes that no row names: of a blob that is deleted, or of more parts than it has. */
export async function* listGarbage(ctx: Context, files: FileStore): AsyncGenerator<string> {
  let keys: string[] = []
  const look = async () => {
    const batch = keys.map((key) => key.split('/') as [id: string, n: string])
    const parts = await findBlobs(ctx.db, new Set(batch.map(([id]) => id)))
    keys = []
    return batch.filter(([id, n]) => Number(n) > (parts.get(id) ?? 0)).map((key) => key.join('/'))
  }
  for await (const key of files.keys()) {
    keys.push(key)
    if (keys.length === BATCH) yield* await look()
  }
  yield* await look()
}
