import * as v from 'valibot'
import { photosOf } from '../../accounts/users/photos.ts'
import { type People, PeopleQuery, type PersonAnswer } from '../../accounts/users/schema.ts'
import { listMerged } from '../../accounts/users/store-merged.ts'
import { listVisible, type PersonRow, toPerson } from '../../accounts/users/store-people.ts'
import type { Context } from '../../context.ts'
import { assertServiceRight } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { Id } from '../../core/schema.ts'
import { useCase } from '../../core/use-case.ts'
import { mayBrowse } from '../memberships/rules.ts'
import { findPeople } from './find.ts'
import { parseQuery } from './query.ts'
import { reachOfSearch } from './reach.ts'

/**
 * A user as others read it: the actor, a system actor, a user who takes part, or did, in a conversation that the actor reads;
 * for an administrator and a part of the host, any.
 *
 * @throws ChatError `not_found` for another user, and for none
 */
export const get = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<PersonAnswer> => {
    const [row] = await listPeople(ctx, actor, [userId])
    if (!row) throw new ChatError('not_found')
    return { user: toPerson(row, photosOf(ctx.config)) }
  },
})

/**
 * Users with a name whose words begin as those of the query: the one with this very username, then users of conversations
 * that the actor shares with them, then others, by username. Or users by their ids, in that order, without those that
 * {@link get} does not return.
 *
 * @throws ChatError `validation_failed` for a query that is too short, and unless there is either a query or ids; `forbidden`
 *   for a query without the right `find_users`
 */
export const search = useCase({
  takes: ['actor'],
  input: PeopleQuery,
  errors: ['validation_failed'],
  run: async (ctx, actor, { query, ids, for: purpose, limit }): Promise<People> => {
    const photos = photosOf(ctx.config)
    if (query !== undefined && ids === undefined) {
      const search = { user_id: actor.user_id, query: parseQuery(query), limit }
      assertServiceRight(ctx.access, actor, 'find_users')
      const reach = reachOfSearch(ctx.access, actor, purpose && ACTS[purpose])
      if (reach === undefined) return { users: [] }
      const rows = await findPeople(ctx.db, { ...search, isShared: reach === 'shared' })
      return { users: rows.map((row) => toPerson(row, photos)) }
    }
    if (ids === undefined || query !== undefined) throw new ChatError('validation_failed', { errors: [EITHER] })
    return { users: (await listPeople(ctx, actor, ids.split(','))).map((row) => toPerson(row, photos)) }
  },
})

/** The right for each purpose of a search; whether the host's hook refuses is not asked. */
const ACTS = { direct: 'open_direct', add: 'add_people' } as const

/** The users with these ids that the actor may see, in this order, each once; for one that was merged, the other one. */
async function listPeople(
  { access, db }: Pick<Context, 'access' | 'db'>,
  actor: Actor,
  texts: string[],
): Promise<PersonRow[]> {
  const ids = new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => v.is(Id, text)))
  const seesAll = actor.roles.includes('admin') || actor.system !== undefined
  const reader = { user_id: actor.user_id, seesAll, readsOpen: mayBrowse(access, actor) }
  const find = (some: Iterable<string>) => listVisible(db, reader, some)
  const byId = new Map((await find(ids)).map((row) => [row.id, row]))
  const missing = [...ids].filter((id) => !byId.has(id))
  const merged = new Map(
    (missing.length > 0 ? await listMerged(db, missing) : []).map(({ from_id, into_id }) => [from_id, into_id]),
  )
  if (merged.size > 0) for (const row of await find(merged.values())) byId.set(row.id, row)
  const rows = [...ids].flatMap((id) => byId.get(merged.get(id) ?? id) ?? [])
  return [...new Set(rows)]
}

const EITHER = { path: 'query', message: 'must be there, or else ids' }
