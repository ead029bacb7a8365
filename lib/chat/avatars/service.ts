import { randomBytes } from 'node:crypto'
import { takeAccount } from '../../accounts/administration/service.ts'
import { byActor } from '../../accounts/audit/rules.ts'
import { announceChange } from '../../accounts/users/announcing.ts'
import { isOwnPhoto, photosOf } from '../../accounts/users/photos.ts'
import { findUser, lockUser, type UserRow } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { assertMayWrite } from '../../core/access.ts'
import { type Actor, assertAdmin, assertPerson, refuseGuests } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { PHOTO_TYPES } from '../../core/file-types.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { assertKnown, useCase } from '../../core/use-case.ts'
import { PictureError, type PictureProblem } from '../../files/pictures/picture-error.ts'
import { assertPixels } from '../../files/pictures/png-pixels.ts'
import { type StrippedPicture, stripPicture } from '../../files/pictures/strip.ts'
import { spendPhoto } from '../../limits/spending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { OWN_PHOTOS } from '../../storage/own-photos.ts'
import { answerWith, type FileAnswer, type RequestHeaders } from '../attachments/content.ts'
import type { ReadPart } from '../attachments/parts.ts'
import { openSource } from '../attachments/reading.ts'
import { keyOfPart, servedAs } from '../attachments/rules.ts'
import { assertSpace } from '../attachments/space.ts'
import { insertBlob, lockLive, releaseUnused, takeBack } from '../attachments/store-blobs.ts'
import { removeBytes } from '../attachments/sweep.ts'
import type { PhotoAnswer } from './schema.ts'
import { findPhoto, setPhoto } from './store.ts'

/** @throws ChatError `not_found` where users set no photos */
export function assertEnabled({ config }: Pick<Context, 'config'>): void {
  if (!config.avatars.enabled) throw turnedOff('avatars.enabled')
}

/**
 * Sets the photo of the actor: a JPEG, PNG or WebP, of which the picture, its orientation and its color profile are kept.
 * It replaces the one before, whose URL ends.
 *
 * @param bytes the picture, or a function that reads it into the buffer that it gets, and returns what it has read
 * @throws ChatError `not_found` where users set no photos; `forbidden` for a guest, a read-only user and a system actor; `rate_limited`
 *   after ten in an hour, refused ones too; `conflict` while the host has a photo of the user; `payload_too_large`;
 *   `unsupported_media_type`; `validation_failed` for a broken or animated picture, and one of more than 4,096 pixels a side;
 *   `storage_full`, `unavailable`
 */
export async function setAvatar(ctx: Context, actor: Actor, bytes: Uint8Array | ReadPart): Promise<PhotoAnswer> {
  assertEnabled(ctx)
  assertPerson(actor)
  assertMayWrite(ctx.access, actor)
  // Its bytes are public, and a visitor without a sign-in answers for none.
  refuseGuests(actor)
  if (!(bytes instanceof Uint8Array) && typeof bytes !== 'function') throw invalid('must be a Uint8Array')
  const { user_id } = actor
  await spendPhoto(ctx, user_id)
  assertFree(await findUser(ctx.db, user_id))
  const { max_bytes } = ctx.config.avatars
  const length = typeof bytes === 'function' ? max_bytes : 0
  return ctx.files.partSlots.take(user_id, length, async ({ buffer, signal, onBytes }) => {
    const original = typeof bytes === 'function' ? await bytes(length, buffer, signal, onBytes) : bytes
    if (original.length > max_bytes) throw new ChatError('payload_too_large')
    return store(ctx, actor, await strip(original))
  })
}

const WHY: Record<Exclude<PictureProblem, 'unsupported'>, string> = {
  broken: 'must be a whole picture',
  animated: 'must not be animated',
  large: 'must have at most 4096 pixels a side',
}

/** @throws ChatError `unsupported_media_type`, `validation_failed` */
async function strip(bytes: Uint8Array): Promise<StrippedPicture> {
  try {
    const picture = stripPicture(bytes)
    if (picture.type === 'image/png') await assertPixels(picture.bytes)
    return picture
  } catch (error) {
    if (!(error instanceof PictureError)) throw error
    if (error.problem !== 'unsupported') throw invalid(WHY[error.problem])
    throw new ChatError('unsupported_media_type', { message: 'Send a picture: JPEG, PNG or WebP.' })
  }
}

const invalid = (message: string) => new ChatError('validation_failed', { errors: [{ path: '', message }] })

/** Stores the bytes, and then the photo: a process that dies in between leaves bytes that the sweep releases. */
async function store(ctx: Context, { user_id }: Actor, { type, bytes }: StrippedPicture): Promise<PhotoAnswer> {
  const key = newKey()
  await assertSpace(ctx, { name: 'photo' }, bytes.length)
  const blob = { id: key, size: bytes.length, parts: 1, created_at: ctx.now(), uploaded_by: null }
  await ctx.write((tx) => insertBlob(tx, blob), { full_disk: 'refused' })
  await (await ctx.files.open()).put(keyOfPart(key, 1), bytes)
  const isStored = await ctx.write(async (tx) => {
    await lockUser(tx, user_id)
    const user = await findUser(tx, user_id)
    assertFree(user)
    // The sweep may have taken the bytes for some that nothing needs.
    if (!(await lockLive(tx, key)) && !(await takeBack(tx, key))) return false
    await replacePhoto(tx, user, { key, type }, ctx.now())
    return true
  })
  if (!isStored) {
    await removeBytes(ctx, blob)
    throw new ChatError('unavailable', { retry_after_seconds: 1 })
  }
  return { avatar_url: photosOf(ctx.config)(OWN_PHOTOS + key).avatar_url! }
}

/** 128 random bits: no one guesses the URL of a photo. In the form of an id, as it is also that of its blob. */
function newKey(): string {
  return randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** @throws ChatError `conflict` while the host has a photo of the user; `unauthenticated` if the user was disabled or erased */
function assertFree(user: UserRow | undefined): asserts user is UserRow {
  if (!user || user.disabled_at !== null) throw new ChatError('unauthenticated')
  if (user.avatar_url !== null && !isOwnPhoto(user.avatar_url))
    throw new ChatError('conflict', { message: 'The application around the chat has a photo of you: change it there.' })
}

/** Sets another photo of a locked user, or none, and releases the bytes of the one before. */
async function replacePhoto(
  tx: Tx,
  user: UserRow,
  photo: { key: string; type: string } | undefined,
  now: number,
): Promise<void> {
  await setPhoto(tx, user.id, photo, now)
  if (isOwnPhoto(user.avatar_url)) await releaseUnused(tx, [user.avatar_url.slice(OWN_PHOTOS.length)], now)
  announceChange(tx, user, { ...user, avatar_url: photo ? OWN_PHOTOS + photo.key : null })
}

/**
 * Removes the photo that the actor has set, if any; the URL of the photo ends.
 *
 * @throws ChatError `not_found` where users set no photos; `forbidden` for a read-only user and a system actor
 */
export const removeAvatar = useCase({
  takes: ['actor'],
  frees: 'half',
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor): Promise<void> => {
    assertEnabled(ctx)
    assertPerson(actor)
    assertMayWrite(ctx.access, actor)
    await ctx.write(async (tx) => {
      await lockUser(tx, actor.user_id)
      const user = await findUser(tx, actor.user_id)
      if (user && isOwnPhoto(user.avatar_url)) await replacePhoto(tx, user, undefined, ctx.now())
    })
  },
})

/**
 * Removes the photo that a user has set, if any. That of a host is the host's.
 *
 * @throws ChatError `forbidden`; `not_found`, also where users set no photos
 */
export const removeAvatarOf = useCase({
  takes: ['actor', 'user_id'],
  frees: 'half',
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<void> => {
    assertAdmin(actor)
    assertEnabled(ctx)
    await ctx.write(async (tx) => {
      const user = await takeAccount(tx, actor, userId, { resigns: false })
      if (!isOwnPhoto(user.avatar_url)) return
      await replacePhoto(tx, user, undefined, ctx.now())
      tx.audit({ act: 'user.photo_removed', ...byActor(actor), subject_id: userId })
    })
  },
})

/** How a photo is requested. */
export interface PhotoOptions {
  /** The headers of a request, of which `If-None-Match` is read. */
  headers?: RequestHeaders
}

const PHOTO_OPTIONS: NamesOf<PhotoOptions> = { headers: 0 }

/**
 * The bytes of a photo that a user has set, for every caller that knows its key: `<img>` sends no session to another origin.
 *
 * @throws ChatError `not_found`, also for a photo that was replaced or removed; `unavailable`
 */
export async function openAvatar(ctx: Context, key: string, options?: PhotoOptions): Promise<FileAnswer> {
  assertKnown(options, PHOTO_OPTIONS)
  assertEnabled(ctx)
  const photo = await findPhoto(ctx.db, key)
  if (!photo) throw new ChatError('not_found')
  const { blob_id, size, created_at } = photo
  const type = servedAs(photo.type, PHOTO_TYPES)
  const file = { name: `photo.${type.slice('image/'.length)}`, type, size: Number(size), blob_id, digest: key }
  const answer = answerWith(
    await openSource(ctx),
    { ...file, modified: Number(created_at) / 1000 },
    { inline: true, is_shared: true, headers: options?.headers ?? { get: () => null } },
  )
  // Its URL never has other bytes; a shared cache would keep a photo that was removed.
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'private, max-age=31536000, immutable' } }
}
