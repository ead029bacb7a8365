import type { Context, Host } from '../../context.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { THUMBNAIL_TYPES } from '../../core/file-types.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import { largestFrame } from '../../files/gif-frames.ts'
import { sniff } from '../../files/sniff.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { FileToCheck, ScanVerdict, Thumbnail } from '../../ports.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { lockAsSystem } from '../memberships/access.ts'
import { piecesOf } from './content.ts'
import { openSource } from './reading.ts'
import { keyOfPart, toList } from './rules.ts'
import { PART_BYTES } from './schema.ts'
import { type AttachmentRow, findAttachment, listOfMessage, lockAttachment, setList, toAttachment } from './store.ts'
import { blobsOf, insertBlob, lockLive, releaseUnused } from './store-blobs.ts'
import { markRefused, markScanned, setThumbnail } from './store-verdicts.ts'

/** How long the host may take for a file. */
const TIMEOUT_MS = 60_000

/** How often the service calls the host. */
const MAX_ATTEMPTS = 3

/** The pause before the next try, which is twice as long each time. */
const PAUSE_SECONDS = 5

/** How soon another process is expected to have the scanner that this one does not have. */
const ELSEWHERE_SECONDS = 30

type CheckContext = Pick<Context, 'config'> & { host: Pick<Host, 'scan' | 'thumbnail'> }

/** Whether the host must check a file before it can be read. */
export function statusOfComplete({ host: { scan } }: CheckContext): 'scanning' | 'ready' {
  return scan ? 'scanning' : 'ready'
}

/** Has the host check a complete file, and make a picture of it, if it does either. */
export function checkLater(ctx: CheckContext, tx: Tx, row: AttachmentRow): void {
  if (ctx.host.scan || mayHaveThumbnail(ctx, row)) tx.enqueue({ kind: 'files.check', key: row.id })
}

/** To decode a picture takes memory for each of its pixels: one whose size is not known gets no thumbnail. */
function mayHaveThumbnail(
  { config, host: { thumbnail } }: CheckContext,
  { sniffed, width, height }: AttachmentRow,
): boolean {
  const pixels = (width ?? 0) * (height ?? 0)
  const isPicture = sniffed?.startsWith('image/') ?? false
  return thumbnail !== undefined && isPicture && pixels > 0 && pixels <= config.attachments.thumbnail_pixels
}

/** Asks the host about one file: whether it is clean, then for a thumbnail of it. */
export async function checkFile(ctx: Context, { key, detail, signal }: TaskRun): Promise<TaskOutcome> {
  const row = await findAttachment(ctx.db, key)
  if (!row?.blob_id || !ctx.config.attachments.enabled) return { done: true }
  const tries = Number(detail.tries ?? 0) + 1
  const again: TaskOutcome = { done: false, detail: { tries }, delay_seconds: PAUSE_SECONDS * 2 ** tries }
  try {
    if (row.status === 'scanning') {
      if (!ctx.host.scan) return { done: false, detail, delay_seconds: ELSEWHERE_SECONDS }
      await decide(ctx, row, await ask(ctx, row, signal, ctx.host.scan))
      // With a count of its own.
      return mayHaveThumbnail(ctx, row) ? { done: false, detail: {} } : { done: true }
    }
    const isWanted = row.status === 'ready' && row.thumbnail_blob_id === null && mayHaveThumbnail(ctx, row)
    if (isWanted && (await areFramesSmall(ctx, row, signal)))
      await keep(ctx, row, await ask(ctx, row, signal, ctx.host.thumbnail!))
    return { done: true }
  } catch (error) {
    if (signal.aborted) return { done: false, detail }
    // It is not the host that failed: a file is not refused because its disk is not mounted.
    if (isUnavailable(error)) return { done: false, detail, delay_seconds: ELSEWHERE_SECONDS }
    ctx.log.warn('The host could not check a file', { subject_id: key, cause: causeText(error) })
    if (tries < MAX_ATTEMPTS) return again
    if (row.status === 'scanning') await decide(ctx, row, verdictOnFailure(ctx))
    return { done: true }
  }
}

/** Whether a decoder gets no more pixels at once than the header of the picture announces. */
async function areFramesSmall(ctx: Context, row: AttachmentRow, signal: AbortSignal): Promise<boolean> {
  if (row.sniffed !== 'image/gif') return true
  const most = ctx.config.attachments.thumbnail_pixels
  const pieces = unlessAborted(piecesOf(await openSource(ctx), row.blob_id!, { start: 0, end: row.size }), signal)
  return (await largestFrame(pieces, most)) <= most
}

async function* unlessAborted(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    signal.throwIfAborted()
    yield piece
  }
}

function verdictOnFailure({ config }: Context): ScanVerdict {
  if (config.attachments.scan_failure === 'accept') return { verdict: 'clean' }
  return { verdict: 'refused', reason: 'It could not be checked.' }
}

const LATE = Symbol('late')

/** Whether the storage does not answer, or is missing: nothing can be said of the file. */
const isUnavailable = (error: unknown) => error instanceof ChatError && error.code === 'unavailable'

/** Calls a function of the host with a file. After its time is up, it cannot read more. */
async function ask<T>(
  ctx: Context,
  row: AttachmentRow,
  stop: AbortSignal,
  call: (file: FileToCheck) => T | Promise<T>,
): Promise<T> {
  const source = await openSource(ctx)
  const late = new AbortController()
  const signal = AbortSignal.any([stop, late.signal])
  let failure: unknown
  async function* read() {
    try {
      yield* unlessAborted(piecesOf(source, row.blob_id!, { start: 0, end: row.size }), signal)
    } catch (error) {
      if (isUnavailable(error)) failure = error
      throw error
    }
  }
  const file: FileToCheck = { attachment: toAttachment(row), signal, open: read }
  const answer = await withDeadline(callHost(call, file), TIMEOUT_MS, LATE).catch((error) => {
    throw failure ?? error
  })
  // Whatever the host makes of a file that it could not read.
  if (failure) throw failure
  if (answer !== LATE) return answer as T
  late.abort()
  throw new Error(`It took longer than ${TIMEOUT_MS} ms`)
}

const callHost = async <T>(call: (file: FileToCheck) => T | Promise<T>, file: FileToCheck): Promise<T> => call(file)

/** Stores what the scanner said. */
async function decide(
  ctx: Context,
  { id, conversation_id }: AttachmentRow,
  { verdict, reason }: ScanVerdict,
): Promise<void> {
  if (verdict !== 'clean' && verdict !== 'refused') throw new Error(`${verdict} is no verdict`)
  const isDecided = await change(ctx, { id, conversation_id }, async (tx, row) => {
    if (row.status !== 'scanning') return false
    if (verdict === 'clean') await markScanned(tx, id)
    else {
      await markRefused(tx, id, reason?.slice(0, 500) ?? null)
      // No user may read these bytes, nor restore them.
      await releaseUnused(tx, blobsOf([row]), 0)
    }
    return true
  })
  if (isDecided && verdict === 'refused') ctx.metrics.fileRefused()
}

/**
 * Stores a thumbnail: the row of its bytes, the bytes, and then that the file has them. What is left of it, if the file is gone
 * or this process dies, is a row that nothing refers to: the sweep deletes it, with the bytes.
 */
async function keep(
  ctx: Context,
  { id, conversation_id }: AttachmentRow,
  thumbnail: Thumbnail | undefined,
): Promise<void> {
  if (thumbnail === undefined) return
  assertThumbnail(thumbnail)
  const { bytes, type } = thumbnail
  const blob_id = ctx.id()
  await ctx.write((tx) =>
    insertBlob(tx, { id: blob_id, size: bytes.length, parts: 1, created_at: ctx.now(), uploaded_by: null }),
  )
  const files = await ctx.files.open()
  await files.put(keyOfPart(blob_id, 1), bytes)
  await change(ctx, { id, conversation_id }, async (tx, row) => {
    if (row.status !== 'ready' || row.thumbnail_blob_id !== null) return false
    // The sweep may have taken it for one that nothing refers to.
    if (!(await lockLive(tx, blob_id))) return false
    await setThumbnail(tx, id, { blob_id, type })
    return true
  })
}

/** @throws Error for anything but a small picture: what the host makes is served as a picture of that type */
function assertThumbnail({ bytes, type, width, height }: Thumbnail): void {
  const isSmall = [width, height].every((pixels) => pixels >= 1 && pixels <= 512)
  if (!isSmall || bytes.length > PART_BYTES) throw new Error('A thumbnail has at most 512 × 512 pixels and 4 MiB')
  if (!THUMBNAIL_TYPES.some((candidate) => candidate === type) || sniff(bytes) !== type)
    throw new Error(`The thumbnail is no ${type}`)
}

/**
 * Changes an attachment; if a message has it, with its list, and an event. Locks as a post does: the conversation first.
 *
 * @returns whether `work` has changed it
 */
async function change(
  ctx: Context,
  { id, conversation_id }: { id: string; conversation_id: string },
  work: (tx: Tx, row: AttachmentRow) => Promise<boolean>,
): Promise<boolean> {
  return ctx.write(async (tx) => {
    if ((await lockAsSystem(ctx, tx, conversation_id)) === undefined) return false
    const row = await lockAttachment(tx, id)
    if (!row || !(await work(tx, row))) return false
    const { message_id } = row
    if (message_id === null) return true
    await setList(tx, message_id, toList((await listOfMessage(tx, message_id)).map(toAttachment)))
    tx.emit(conversation_id, { type: 'attachment.changed', message_id, detail: { attachment_id: id } })
    return true
  })
}
