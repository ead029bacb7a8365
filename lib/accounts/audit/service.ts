import { assertAdmin } from '../../core/actor.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { type AuditPage, AuditQuery } from './schema.ts'
import { findWindowEnd, listEntries, toRecord } from './store.ts'

/** The maximum number of entries that a page with a filter reads, so that the database is not noticeably busy. */
const WINDOW = 10_000

/**
 * A page of the audit log, newest first. With a filter it may have fewer entries than `limit`, even none, and still a
 * `next_after`: the position up to which it has searched.
 *
 * @throws ChatError `forbidden`
 */
export const list = useCase({
  takes: ['actor'],
  input: AuditQuery,
  run: async (ctx, actor, input): Promise<AuditPage> => {
    assertAdmin(actor)
    const { after, limit, act, user_id } = input
    return ctx.db.snapshot(async (db) => {
      const rows = await listEntries(db, after, { act, user_id }, { limit: limit + 1, window: WINDOW })
      const entries = fit(rows.slice(0, limit).map(toRecord))
      const next = entries.length < rows.length ? entries.at(-1)!.id : await findWindowEnd(db, after, WINDOW)
      return { entries, ...(next && { next_after: next }) }
    })
  },
})
