import type { Context } from '../../context.ts'
import { assertAdmin, assertOperator } from '../../core/actor.ts'
import { fit } from '../../core/pages.ts'
import { fromInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { type AuditPage, AuditQuery, type NamedAuditPage } from './schema.ts'
import { type AuditRow, findPlace, findWindowEnd, listEntries, toNamedRecord, toRecord } from './store.ts'

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
    return listPage(ctx, input, toRecord)
  },
})

/**
 * A page of the audit log like {@link list}, with the titles and the names of keys that the entries keep.
 *
 * @throws ChatError `forbidden` unless the actor is the operator
 */
export const listNamed = useCase({
  takes: ['actor'],
  input: AuditQuery,
  errors: ['forbidden'],
  run: async (ctx, actor, input): Promise<NamedAuditPage> => {
    assertOperator(actor)
    return listPage(ctx, input, toNamedRecord)
  },
})

function listPage<Entry extends { id: string }>(
  { db }: Pick<Context, 'db'>,
  { after, limit, since, until, ...equal }: AuditQuery,
  toEntry: (row: AuditRow) => Entry,
): Promise<{ entries: Entry[]; next_after?: string }> {
  return db.snapshot(async (snapshot) => {
    const before = await findPlace(snapshot, after)
    if (!before) return { entries: [] }
    const filter = { ...equal, since: micros(since), until: micros(until) }
    const rows = await listEntries(snapshot, before, filter, { limit: limit + 1, window: WINDOW })
    const entries = fit(rows.slice(0, limit).map(toEntry))
    const isCut = entries.length < rows.length
    const next = isCut ? entries.at(-1)!.id : await findWindowEnd(snapshot, before, filter, WINDOW)
    return { entries, ...(next && { next_after: next }) }
  })
}

const micros = (instant: string | undefined) => (instant === undefined ? undefined : fromInstant(instant))
