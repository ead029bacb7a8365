import { findUser } from '../../accounts/users/store.ts'
import type { Context, Files } from '../../context.ts'
import { type Actor, splitRoles } from '../../core/actor.ts'
import { ChatError, invalid } from '../../core/errors.ts'
import { THUMBNAIL_TYPES } from '../../core/file-types.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { assertKnown } from '../../core/use-case.ts'
import { assertEnabled, requireAttachment } from './access.ts'
import { answerWith, type FileAnswer, type Readable, type RequestHeaders, type Source } from './content.ts'
import { notReady, refused, servedAs } from './rules.ts'
import type { FoundAttachment } from './store.ts'
import { findBlob } from './store-verdicts.ts'

/** How a file is requested. */
export interface ReadOptions {
  /** The headers of a request, of which `Range`, `If-Range` and `If-None-Match` are read. */
  headers?: RequestHeaders
  /** Whether a browser may show a picture, audio or video. Default: it saves them. */
  inline?: boolean | undefined
  /** Whether pages of other origins may have it. Default: they may not. */
  is_shared?: boolean
}

const READ_OPTIONS: NamesOf<ReadOptions> = { headers: 0, inline: 0, is_shared: 0 }

/** What gives the bytes of files. */
type SourceContext = { files: Pick<Files, 'open' | 'place' | 'pieceMemory'> }

type ReadContext = SourceContext & Pick<Context, 'access' | 'config' | 'db' | 'now'>

const NO_HEADERS = { get: () => null }

/**
 * The bytes of a file, with the headers of a response. The rights are those at the time of the call. A user reads up to
 * `attachments.max_reads_per_user` files at once, and the first bytes of a further one wait; one counts until its bytes are
 * read, or left. What takes fewer than 64 KiB in 10 seconds while others wait for its place loses it.
 *
 * @throws ChatError `validation_failed`; `not_found`, also for a deleted message; `attachment_not_ready`, `attachment_refused`;
 *   `range_not_satisfiable`; `rate_limited`; `unavailable` while the storage of files is missing; when the bytes are read, `rate_limited` or `unavailable` without a place,
 *   `request_timeout` for one that is lost, and `not_found` if the bytes are missing
 */
export async function open(
  ctx: Context,
  actor: Actor,
  attachmentId: string,
  options?: ReadOptions,
): Promise<FileAnswer> {
  assertKnown(options, READ_OPTIONS)
  if (typeof (options?.inline ?? false) !== 'boolean') throw invalid('inline', 'must be true or false')
  assertEnabled(ctx)
  // Before anything is read.
  ctx.files.readSlots.assertRoom(actor.user_id)
  const file = await read(ctx, actor, attachmentId, options)
  return { ...file, ...ctx.files.readSlots.hold(actor.user_id, file.bytes) }
}

async function read(ctx: ReadContext, actor: Actor, attachmentId: string, options?: ReadOptions): Promise<FileAnswer> {
  const { row } = await requireAttachment(ctx, ctx.db, actor, attachmentId)
  const file = toReadable(row)
  const { inline = false, is_shared = false, headers = NO_HEADERS } = options ?? {}
  return answerWith(await openSource(ctx), file, { inline, is_shared, headers })
}

/**
 * The bytes of a file for the assistant, with only the rights of the user who asked it.
 *
 * @throws ChatError while it is read: as {@link open}; `not_found` for a disabled user
 */
export async function* openFor(ctx: ReadContext, userId: string, attachmentId: string): AsyncGenerator<Uint8Array> {
  const user = await findUser(ctx.db, userId)
  if (!user || user.disabled_at) throw new ChatError('not_found')
  const { bytes } = await read(ctx, { user_id: user.id, roles: splitRoles(user.roles) }, attachmentId)
  yield* bytes
}

/**
 * The thumbnail of a picture, if the host has made one. The rights are those to the picture. A user reads as many at once
 * as files, and beside these.
 *
 * @throws ChatError `not_found`, also without a thumbnail; `attachment_not_ready`, `attachment_refused`; `rate_limited`, also
 *   when the bytes are read; `unavailable`
 */
export async function openThumbnail(
  ctx: Context,
  actor: Actor,
  attachmentId: string,
  options?: ReadOptions,
): Promise<FileAnswer> {
  assertKnown(options, READ_OPTIONS)
  assertEnabled(ctx)
  ctx.files.thumbnailSlots.assertRoom(actor.user_id)
  const { row } = await requireAttachment(ctx, ctx.db, actor, attachmentId)
  const file = toReadable(row)
  const blob = row.thumbnail_blob_id === null ? undefined : await findBlob(ctx.db, row.thumbnail_blob_id)
  if (!blob) throw new ChatError('not_found')
  const thumbnail = {
    ...file,
    type: servedAs(row.thumbnail_type, THUMBNAIL_TYPES),
    size: blob.size,
    blob_id: blob.id,
    digest: blob.id,
  }
  const { headers = NO_HEADERS, is_shared = false } = options ?? {}
  const answer = await answerWith(await openSource(ctx), thumbnail, { inline: true, is_shared, headers })
  return { ...answer, ...ctx.files.thumbnailSlots.hold(actor.user_id, answer.bytes) }
}

/** Where the bytes of files are read from. @throws ChatError `unavailable` while it is missing */
export async function openSource({ files }: SourceContext): Promise<Source> {
  files.place.assertThere()
  return { files: await files.open(), memory: files.pieceMemory }
}

/** @throws ChatError `not_found`, `attachment_not_ready`, `attachment_refused` */
export function toReadable(row: FoundAttachment): Readable {
  if (row.is_deleted === 1 || row.status === 'gone') throw new ChatError('not_found')
  if (row.status === 'refused') throw refused(row)
  if (row.status !== 'ready') throw notReady(row)
  const { name, size, sniffed, created_at } = row
  const type = servedAs(sniffed)
  return { name, type, size, blob_id: row.blob_id!, digest: row.digest!, modified: created_at / 1000 }
}
