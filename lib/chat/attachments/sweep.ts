import { storesFiles } from '../../config/attachments.ts'
import type { Context } from '../../context.ts'
import { AT_ONCE, type Cutoff } from '../../core/clock.ts'
import { causeText } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'
import type { TaskOutcome, TaskRun } from '../../tasks/runner.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { keyOfPart, toList } from './rules.ts'
import { listOfMessage, setList, toAttachment } from './store.ts'
import {
  type BlobRow,
  blobsOf,
  canFoldSizes,
  deleteBlobs,
  foldSizes,
  listReleased,
  listReleasedPhotos,
  listUnused,
  type ReleasedPlace,
  releaseUnused,
  takeBack,
} from './store-blobs.ts'
import { forgetLost } from './store-lost.ts'
import { listExpired, markGone, type Released, takeExpired } from './store-releasing.ts'

/** The number of rows of one step. */
const BATCH = 100

/** The number of parts that are deleted at once. */
const PARTS_CONCURRENCY = 8

/** How many blobs one step checks for references. */
const PAGE = 500

/** The last checked blob; empty at the beginning. */
export interface SweepRound {
  after: string
  /** The last checked photo. */
  photo?: string | undefined
  /** The released blob after which it continues, if the storage failed there. */
  released?: ReleasedPlace | undefined
}

/** How long the bytes of a released blob are kept. */
export const gracePeriod = ({ config }: Pick<Context, 'config'>): Micros =>
  config.attachments.grace_hours * 3_600 * SECOND

/** What a sweep has done. */
export interface Swept {
  /** Files that ran out: uploads, files that no message took, and files of deleted messages. */
  expired: number
  /** Blobs whose bytes were deleted. */
  blobs: number
  /** What was stored of these, if it was measured. */
  bytes: number
  /** Blobs whose bytes could not be deleted, and why the last of them could not. */
  failed: number
  cause?: unknown
}

/** How many failures in a row end a sweep: then it is the storage that is away. The next one continues behind them. */
const FAILURES_IN_A_ROW = 10

/**
 * Deletes expired files, and the bytes that nothing has referred to for `attachments.grace_hours`. A job calls it
 * every minute. Bytes that cannot be deleted are tried again by the next sweep, and hold up no others.
 *
 * Nothing is deleted while the storage of files is missing, or another database owns it: this one is a copy then.
 *
 * @param round where this call continues to look for blobs that nothing refers to: a few at each call, all of them in
 *   time
 * @param options.grace how long released bytes are kept. Default: `attachments.grace_hours`
 * @param options.measure measures the bytes that are deleted, which the place may lack
 */
export async function sweepFiles(
  ctx: Context,
  round: SweepRound,
  { grace = gracePeriod(ctx), measure = false }: { grace?: Micros; measure?: boolean } = {},
): Promise<Swept> {
  if (!storesFiles(ctx.config)) return { expired: 0, blobs: 0, bytes: 0, failed: 0 }
  const expired = await sweepExpired(ctx)
  round.after = (await releaseSome(ctx, round.after)) ?? ''
  round.photo = await keepPhotos(ctx, round.photo ?? '')
  const swept = await sweepBlobs(ctx, round, { grace, measure })
  if (await canFoldSizes(ctx.db)) await ctx.write(foldSizes)
  return { expired, ...swept }
}

/** {@link sweepFiles}, which fails at the end if some bytes could not be deleted. @throws Error */
export async function sweepOrFail(ctx: Context, round: SweepRound): Promise<void> {
  const { failed, cause } = await sweepFiles(ctx, round)
  if (failed > 0) throw new Error(`The bytes of ${failed} files: ${causeText(cause)}`, { cause })
}

async function sweepExpired(ctx: Context): Promise<number> {
  const now = ctx.clock.before(0)
  if (now === undefined) return 0
  let place = { expires_at: Number.MIN_SAFE_INTEGER, id: '' }
  let swept = 0
  for (;;) {
    const rows = await listExpired(ctx.db, now, place, BATCH)
    swept += await dropUploads(ctx, rows, now)
    const messages = new Map(rows.flatMap((row) => (row.message_id === null ? [] : [[row.message_id, row]])))
    for (const row of messages.values()) swept += await emptyMessage(ctx, row, now)
    if (rows.length < BATCH || ctx.streams.hub.isDraining()) return swept
    place = rows.at(-1)!
  }
}

/** Deletes uploads, and files that no message has taken: they need no grace, as no backup needs their bytes. */
async function dropUploads(ctx: Context, rows: readonly Released[], now: Cutoff): Promise<number> {
  const ids = rows.filter((row) => row.message_id === null).map((row) => row.id)
  if (ids.length === 0) return 0
  return ctx.write(async (tx) => {
    const uploads = await takeExpired(tx, ids, now)
    await releaseUnused(tx, blobsOf(uploads), 0)
    return uploads.length
  })
}

/** Takes the bytes from the files of a deleted message: when it is restored, it shows that they were deleted. */
async function emptyMessage(ctx: Context, { message_id, conversation_id }: Released, now: Cutoff): Promise<number> {
  return ctx.write(async (tx) => {
    // A restore locks it, too. The files of a deleted conversation go with it.
    if ((await lockConversation(tx, conversation_id)) === undefined) return 0
    const before = await listOfMessage(tx, message_id!)
    const count = await markGone(tx, message_id!, now)
    if (count === 0) return 0
    await releaseUnused(tx, blobsOf(before), now)
    await setList(tx, message_id!, toList((await listOfMessage(tx, message_id!)).map(toAttachment)))
    return count
  })
}

/** Deletes the bytes of released blobs, then their rows: a process that dies in between does it again. */
async function sweepBlobs(
  ctx: Context,
  round: SweepRound,
  { grace, measure }: { grace: Micros; measure: boolean },
): Promise<Omit<Swept, 'expired'>> {
  const swept: Omit<Swept, 'expired'> = { blobs: 0, bytes: 0, failed: 0 }
  let place = round.released
  let inARow = 0
  for (;;) {
    const blobs = await listReleased(ctx.db, ctx.clock.before(grace) ?? AT_ONCE, {
      after: place,
      lost_before: ctx.clock.before(gracePeriod(ctx)) ?? AT_ONCE,
      limit: BATCH,
    })
    // Its marker may have changed since the last batch.
    if (blobs.length > 0 && !(await ctx.files.place.mayDelete())) return swept
    const deleted: string[] = []
    for (const blob of blobs) {
      if (inARow === FAILURES_IN_A_ROW) break
      place = blob
      try {
        const bytes = measure ? await storedOf(ctx, blob.id) : 0
        await removeBytes(ctx, blob)
        deleted.push(blob.id)
        swept.bytes += bytes
        inARow = 0
      } catch (cause) {
        Object.assign(swept, { failed: swept.failed + 1, cause })
        inARow++
      }
    }
    if (deleted.length > 0)
      await ctx.write(async (tx) => {
        await forgetLost(tx, deleted)
        await deleteBlobs(tx, deleted)
      })
    swept.blobs += deleted.length
    const isAway = inARow === FAILURES_IN_A_ROW
    round.released = isAway ? place : undefined
    if (isAway || blobs.length < BATCH || ctx.streams.hub.isDraining()) return swept
  }
}

/**
 * Takes back the bytes of the next photos that a process without photos, which runs beside an upgrade, has released.
 *
 * @returns the last one; `undefined` if there are no more
 */
async function keepPhotos(ctx: Context, after: string): Promise<string | undefined> {
  const { released, last } = await listReleasedPhotos(ctx.db, after, PAGE)
  for (const id of released) await ctx.write((tx) => takeBack(tx, id))
  return last
}

async function storedOf(ctx: Context, id: string): Promise<number> {
  const sizes = await (await ctx.files.open()).sizes(id)
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

/** Deletes the stored bytes of a blob. */
export async function removeBytes(ctx: Context, { id, parts }: Pick<BlobRow, 'id' | 'parts'>): Promise<void> {
  const files = await ctx.files.open()
  for (let from = 1; from <= parts; from += PARTS_CONCURRENCY) {
    const count = Math.min(PARTS_CONCURRENCY, Number(parts) - from + 1)
    await Promise.all(Array.from({ length: count }, (_, n) => files.remove(keyOfPart(id, from + n))))
  }
}

/**
 * Releases all blobs that nothing refers to: after the deletion of a conversation, with which the rows of its files go.
 */
export async function collect(ctx: Context, { detail, isOver }: TaskRun): Promise<TaskOutcome> {
  let after = String(detail.after ?? '')
  while (!isOver()) {
    const last = await releaseSome(ctx, after)
    if (last === undefined) return { done: true }
    after = last
  }
  return { done: false, detail: { after } }
}

/** Releases those of the next blobs that nothing refers to. @returns the last one; `undefined` if there are no more */
async function releaseSome(ctx: Context, after: string): Promise<string | undefined> {
  const { unused, last } = await listUnused(ctx.db, after, PAGE)
  if (unused.length > 0) await ctx.write((tx) => releaseUnused(tx, unused, ctx.now()))
  return last
}
