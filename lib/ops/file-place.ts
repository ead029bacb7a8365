import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { examine, hasNewest, own } from '../files/place.ts'
import { findPlaceIds, namesBytes } from '../files/store.ts'

/** What the adoption of a storage of files has found there. */
export interface AdoptedFiles {
  /** The place, without secrets. */
  place: string
  /** `own`: nothing had to be changed; `shared`: another database owned it; `missing`: it had another marker, or none. */
  was: 'own' | 'shared' | 'missing' | 'free'
}

/**
 * Makes this database the owner of the storage of files: it may delete there what it does not name, and another database
 * with files there deletes nothing any more.
 *
 * @throws ChatError `conflict` if the place has none of the newest files: then its disk may not be mounted; `unavailable`
 */
export async function adoptFiles(ctx: Context): Promise<AdoptedFiles> {
  const files = await ctx.filesPlace.unguarded()
  const { state, storage } = await examine(ctx.db, files)
  const was = state === 'unmarked' ? 'missing' : state
  if (was === 'own') return { place: files.place, was }
  if (was === 'missing' && (await namesBytes(ctx.db)) && !(await hasNewest(ctx.db, files)))
    throw new ChatError('conflict', {
      message:
        'The storage has none of the newest files: mount its disk, restore the files, or mark them as lost with "chat-server fsck --files --repair".',
    })
  await own(ctx.db, files, storage ?? (await findPlaceIds(ctx.db)).storage ?? newId())
  await ctx.filesPlace.look()
  return { place: files.place, was }
}
