import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { examine, hasNewest, own } from '../../files/place.ts'
import { findPlaceIds, namesBytes } from '../../files/store.ts'
import { findMissing } from './file-check.ts'
import { hasLost, recoverFiles } from './lost-files.ts'

/** What the adoption of a storage of files has found there. */
export interface AdoptedFiles {
  /** The place, without secrets. */
  place: string
  /** `own`: nothing had to be changed; `shared`: another database owned it; `missing`: it had another marker, or none. */
  was: 'own' | 'shared' | 'missing' | 'free'
  /** Files that a repair had marked as gone, and that have their bytes again. */
  recovered: number
  /** Files that are not there, if the place was found by such files only: they were stored elsewhere meanwhile. */
  missing: number
  /** Some of them. */
  missing_ids: string[]
}

/**
 * Makes this database the owner of the storage of files: it may delete there what it does not name, and another database
 * with files there deletes nothing any more. What a repair had marked as gone, and is there, comes back.
 *
 * @throws ChatError `conflict` if the place has none of the newest files, nor of those that a repair has marked as gone: then
 *   its disk may not be mounted; `unavailable`
 */
export async function adoptFiles(ctx: Context): Promise<AdoptedFiles> {
  const files = await ctx.files.place.unguarded()
  const { state, storage } = await examine(ctx.db, files)
  const was = state === 'unmarked' ? 'missing' : state
  const found = { place: files.place, was, recovered: 0, missing: 0, missing_ids: [] }
  if (was === 'own') return found
  const isFound = was !== 'missing' || !(await namesBytes(ctx.db)) || (await hasNewest(ctx.db, files))
  if (!isFound && !(await hasLost(ctx, files))) throw new ChatError('conflict', { message: NOT_THERE })
  // Before the lost ones are back: what was stored since their loss is little.
  const elsewhere = isFound ? {} : await findMissing(ctx, files)
  await own(ctx.db, files, storage ?? (await findPlaceIds(ctx.db)).storage ?? newId())
  await ctx.files.place.inspect()
  return { ...found, ...(await recoverFiles(ctx)), ...elsewhere }
}

const NOT_THERE =
  'The storage has none of the newest files: mount its disk, restore the files, or mark them as lost with "chat-server fsck --files --repair".'
