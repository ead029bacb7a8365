import { assertAdmin } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { fromCursor, toCursor } from './rules.ts'
import { type StorageUsagePage, UsageQuery } from './schema.ts'
import { listSums } from './store.ts'
import { findDone, findDoneAt } from './store-rounds.ts'
import { renewForReader } from './summing.ts'

/** Larger than any size. */
const FIRST = { total: Number.MAX_SAFE_INTEGER, key: '' }

/** When a reader may try again if there are no sums yet. */
const RETRY_SECONDS = 5

/**
 * A page of what users or conversations store, largest first. The first page has sums that are at most an hour old, or
 * older ones if new ones are not there within five seconds; the following pages are of the same sums as the first.
 *
 * @throws ChatError `forbidden`; `invalid_cursor`, also when sums were made twice since the first page; `unavailable`
 *   before they are there for the first time
 */
export const list = useCase({
  takes: ['actor'],
  input: UsageQuery,
  errors: ['invalid_cursor', 'unavailable'],
  run: async (ctx, actor, { by, after, limit }): Promise<StorageUsagePage> => {
    assertAdmin(actor)
    const place = after === undefined ? undefined : fromCursor(by, after)
    if (after !== undefined && !place) throw new ChatError('invalid_cursor')
    if (!place) await renewForReader(ctx)
    return ctx.db.snapshot(async (db) => {
      const round = place ? await findDoneAt(db, place.n) : await findDone(db)
      if (!round) throw place ? new ChatError('invalid_cursor') : notYet()
      const sums = await listSums(db, by, place ?? { ...FIRST, n: round.n }, limit + 1)
      const page = sums.slice(0, limit)
      return {
        rows: page.map(({ n: _, total: __, ...row }) => row),
        as_of: toInstant(round.as_of),
        ...(sums.length > limit && { next_after: toCursor(by, page.at(-1)!) }),
      }
    })
  },
})

function notYet(): ChatError {
  const message = 'What is stored is being summed up for the first time. Try again in a moment.'
  return new ChatError('unavailable', { message, retry_after_seconds: RETRY_SECONDS })
}
