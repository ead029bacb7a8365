import { assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fromCursor, toCursor } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { countUnreadOf } from '../unread/store.ts'
import { FollowedQuery, type FollowedThreads } from './schema.ts'
import { listSummaries, toSummary } from './store.ts'
import { countNews, listFollowed as listAll, listNews } from './store-followed.ts'

const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/** Begins a cursor of either list, so that none is taken for one of another list. */
const LIST = { all: 'followed_', unread: 'unread_' }

/**
 * A page of the threads with a reply that the actor follows, over all conversations, latest activity first.
 *
 * @throws ChatError `invalid_cursor`; `forbidden` for the operator and a system actor, which follow nothing
 */
export const listFollowed = useCase({
  takes: ['actor'],
  input: FollowedQuery,
  errors: ['invalid_cursor'],
  run: (ctx, actor, input): Promise<FollowedThreads> => {
    assertPerson(actor)
    const { user_id } = actor
    const prefix = LIST[input.unread ? 'unread' : 'all']
    const after = input.after === undefined ? LATEST : placeOf(prefix, input.after)
    if (!after) throw new ChatError('invalid_cursor')
    return ctx.db.snapshot(async (db) => {
      const news = await countNews(db, user_id)
      const place = { after, limit: input.limit + 1 }
      const entries = input.unread ? await listNews(db, user_id, news, place) : await listAll(db, user_id, place)
      const page = entries.slice(0, input.limit)
      const ids = page.map(({ id }) => id)
      const summaries = new Map((await listSummaries(db, ids)).map((row) => [row.root_id, toSummary(row)]))
      const counts = await countUnreadOf(db, user_id, ids)
      return {
        threads: ids.map((id) => {
          const { unread, unread_replies, following } = counts.get(id)!
          return { ...summaries.get(id)!, unread, unread_replies, following: following === 1 }
        }),
        unread: news.reduce((sum, { threads }) => sum + threads, 0),
        ...(entries.length > page.length && { next_after: prefix + toCursor(page.at(-1)!) }),
      }
    })
  },
})

const placeOf = (prefix: string, cursor: string) =>
  cursor.startsWith(prefix) ? fromCursor(cursor.slice(prefix.length)) : undefined
