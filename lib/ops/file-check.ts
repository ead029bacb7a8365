import { createHash, hash } from 'node:crypto'
import { keyOfPart, lengthOfPart, toList } from '../chat/attachments/rules.ts'
import { listOfMessage, setList, toAttachment } from '../chat/attachments/store.ts'
import { releaseUnused } from '../chat/attachments/store-blobs.ts'
import {
  findBlobs,
  forgetBlob,
  isLive,
  listUnderWay,
  listWhole,
  listWithBlob,
  type WholeBlob,
} from '../chat/attachments/store-checking.ts'
import { lockConversation } from '../chat/conversations/store.ts'
import type { Context } from '../context.ts'
import type { NamesOf } from '../core/known-names.ts'
import { assertKnown } from '../core/use-case.ts'
import type { FileStore } from '../files/file-store.ts'
import type { Finding } from './fsck.ts'

/** The number of rows, or keys, of one step. */
const BATCH = 500

/** The number of ids listed of each finding. */
const EXAMPLES = 10

/** How to check the storage of files. */
export interface FileCheckOptions {
  /** Reads all bytes, and compares their digests. Default: their sizes are compared. */
  read?: boolean
  /** Marks files whose bytes are missing or differ as `gone`. */
  repair?: boolean
  /** Called with the number of files, and of their bytes, that were checked so far. */
  onProgress?: (files: number, bytes: number) => void
}

const FILE_CHECK_OPTIONS: NamesOf<FileCheckOptions> = { read: 0, repair: 0, onProgress: 0 }

/** The result: `findings` is empty if all bytes are there. */
export interface FileCheckup {
  files: number
  bytes: number
  findings: Finding[]
}

/**
 * Compares the database with the storage of files, while the service runs: whether the bytes of every file are there, and
 * whether the storage has others.
 *
 * @throws ChatError `unavailable` if the storage does not answer
 */
export async function fsckFiles(ctx: Context, options: FileCheckOptions = {}): Promise<FileCheckup> {
  assertKnown(options, FILE_CHECK_OPTIONS)
  const { read = false, repair = false, onProgress } = options
  const files = await ctx.files()
  const checked = { files: 0, bytes: 0 }
  const missing = collect('file-bytes', 'The bytes of every file are in the storage.')
  const wrong = collect('file-digests', 'The bytes of every file are those that were uploaded.')
  for (let after = ''; ; ) {
    const blobs = await listWhole(ctx.db, after, BATCH)
    for (const blob of blobs) {
      const state = await checkBlob(files, blob, read)
      // It may have been released, and deleted, since it was listed.
      if (state !== 'there' && !(await isLive(ctx.db, blob.id))) continue
      if (state !== 'there') {
        for (const { id } of await listWithBlob(ctx.db, blob.id)) (state === 'missing' ? missing : wrong).add(id)
        if (repair) await markLost(ctx, blob.id)
      }
      checked.files++
      checked.bytes += Number(blob.size)
      onProgress?.(checked.files, checked.bytes)
    }
    if (blobs.length < BATCH) break
    after = blobs.at(-1)!.id
  }
  await checkUploads(ctx, files, { read, missing, wrong })
  const unknown = collect('file-garbage', 'The storage has no bytes that no row names.')
  for await (const key of listGarbage(ctx)) {
    unknown.add(key)
  }
  const findings = [missing, wrong].flatMap((each) => each.finding(repair, LOST))
  return { ...checked, findings: [...findings, ...unknown.finding(false, GARBAGE, true)] }
}

const LOST =
  'Copy the files from a backup ("chat-server restore --files"), or run "chat-server fsck --files --repair": it marks them as gone.'
const GARBAGE = 'Run "chat-server attachments gc", which deletes them.'

function collect(name: string, says: string) {
  const examples: string[] = []
  let count = 0
  return {
    add(id: string): void {
      if (count++ < EXAMPLES) examples.push(id)
    },
    finding(isRepaired: boolean, remedy: string, isNote = false): Finding[] {
      if (count === 0) return []
      const repaired = isRepaired && { repaired: true as const, remedy: 'Nothing: it is repaired.' }
      return [{ name, says, count, examples, remedy, ...(isNote && { note: true as const }), ...repaired }]
    },
  }
}

type BlobState = 'there' | 'missing' | 'wrong'

async function checkBlob(files: FileStore, { id, size, parts, digest }: WholeBlob, read: boolean): Promise<BlobState> {
  const sizes = await files.sizes(id)
  for (let n = 1; n <= Number(parts); n++) if (sizes.get(n) === undefined) return 'missing'
  for (let n = 1; n <= Number(parts); n++) if (sizes.get(n) !== lengthOfPart(Number(size), n)) return 'wrong'
  if (!read || digest === null) return 'there'
  const whole = createHash('sha256')
  for (let n = 1; n <= Number(parts); n++) {
    const bytes = await files.get(keyOfPart(id, n))
    if (!bytes) return 'missing'
    whole.update(hash('sha256', bytes, 'buffer'))
  }
  return whole.digest('base64url') === digest ? 'there' : 'wrong'
}

type Collected = ReturnType<typeof collect>

/** The parts of uploads that are not complete. */
async function checkUploads(
  { db }: Context,
  files: FileStore,
  { read, missing, wrong }: { read: boolean; missing: Collected; wrong: Collected },
): Promise<void> {
  for (let place = { attachment_id: '', n: 0 }; ; ) {
    const parts = await listUnderWay(db, place, BATCH)
    for (const { attachment_id, n, blob_id, digest } of parts) {
      const bytes = read ? await files.get(keyOfPart(blob_id, n)) : undefined
      if (read ? !bytes : !(await files.sizes(blob_id)).has(Number(n))) missing.add(attachment_id)
      else if (bytes && hash('sha256', bytes, 'base64url') !== digest) wrong.add(attachment_id)
    }
    if (parts.length < BATCH) return
    place = parts.at(-1)!
  }
}

/** The keys of bytes that no row names: of a blob that is deleted, or of more parts than it has. */
export async function* listGarbage(ctx: Context): AsyncGenerator<string> {
  const files = await ctx.files()
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

/** Marks the attachments of a blob whose bytes are lost, and the lists of their messages. */
async function markLost(ctx: Context, blobId: string): Promise<void> {
  const lost = await listWithBlob(ctx.db, blobId)
  await ctx.write(async (tx) => {
    for (const id of new Set(lost.map(({ conversation_id }) => conversation_id))) await lockConversation(tx, id)
    await forgetBlob(tx, blobId)
    for (const id of new Set(lost.flatMap(({ message_id }) => message_id ?? [])))
      await setList(tx, id, toList((await listOfMessage(tx, id)).map(toAttachment)))
    // The next upload of the same bytes must not take it.
    await releaseUnused(tx, [blobId], ctx.now())
  })
}
