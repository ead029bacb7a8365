import type { AuditAct } from '../context.ts'
import { type Actor, assertAdmin } from '../core/actor.ts'
import { uniqueKey } from '../core/characters.ts'
import { ChatError } from '../core/errors.ts'
import { fit } from '../core/pages.ts'
import { useCase } from '../core/use-case.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import { covers } from './rules.ts'
import {
  type LimitAssignment,
  LimitAssignmentInput,
  type LimitProfile,
  LimitProfileChange,
  LimitProfileInput,
  LimitProfilesQuery,
} from './schema.ts'
import * as store from './store.ts'

/** The maximum number of profiles, and of assignments: every request reads them. */
const MAX_ENTRIES = 1000

/**
 * A page of profiles by name. The next page follows the name of the last one, until a page is empty.
 *
 * @throws ChatError `forbidden`
 */
export const listProfiles = useCase({
  takes: ['actor'],
  input: LimitProfilesQuery,
  run: async (ctx, actor, { after = '' }): Promise<LimitProfile[]> => {
    assertAdmin(actor)
    return fit((await store.listProfiles(ctx.db, uniqueKey(after), MAX_ENTRIES)).map(store.toProfile))
  },
})

/**
 * Creates a profile, which has no effect until it is assigned.
 *
 * @throws ChatError `forbidden`; `conflict` when the name is taken, or there are too many
 */
export const createProfile = useCase({
  takes: ['actor'],
  input: LimitProfileInput,
  errors: ['conflict'],
  run: async (ctx, actor, input): Promise<LimitProfile> => {
    assertAdmin(actor)
    return ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      await assertRoom(tx, 'profiles')
      const at = ctx.now()
      const { name, params, description } = input
      const row = { id: ctx.id(), name, ...params, description: description || null, created_at: at, updated_at: at }
      if (!(await store.insertProfile(tx, row, uniqueKey(name)))) throw new ChatError('conflict')
      record(tx, actor, 'limit_profile.created', row.id, { name, ...params })
      return store.toProfile(row)
    })
  },
})

/**
 * Changes the parameters of a profile, from the next request on, wherever it is assigned.
 *
 * @throws ChatError `forbidden`; `not_found`
 */
export const updateProfile = useCase({
  takes: ['actor', 'id'],
  input: LimitProfileChange,
  errors: ['not_found'],
  run: async (ctx, actor, id, { params, description }): Promise<LimitProfile> => {
    assertAdmin(actor)
    return ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      const profile = await store.lockProfile(tx, id)
      if (!profile) throw new ChatError('not_found')
      const described = description === undefined ? profile.description : description || null
      const row = { ...profile, ...params, description: described, updated_at: ctx.now() }
      await store.updateProfile(tx, row)
      await store.setLimitsVersion(tx, ctx.id())
      record(tx, actor, 'limit_profile.changed', id, { name: row.name, ...params })
      return store.toProfile(row)
    })
  },
})

/** Deletes a profile. @throws ChatError `forbidden`; `not_found`; `profile_in_use` while it is assigned */
export const deleteProfile = useCase({
  takes: ['actor', 'id'],
  errors: ['not_found', 'profile_in_use'],
  run: async (ctx, actor, id): Promise<void> => {
    assertAdmin(actor)
    await ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      const profile = await store.lockProfile(tx, id)
      if (!profile) throw new ChatError('not_found')
      if (!(await store.deleteProfile(tx, id))) throw new ChatError('profile_in_use')
      record(tx, actor, 'limit_profile.deleted', id, { name: profile.name })
    })
  },
})

/** Every assignment, by path and method. @throws ChatError `forbidden` */
export const listAssignments = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<LimitAssignment[]> => {
    assertAdmin(actor)
    return (await store.listAssignments(ctx.db)).map(store.toAssignment)
  },
})

/**
 * Assigns a profile to a route, or to all routes with a path prefix, from the next request on.
 *
 * @param endpoints the existing routes, as their adapter knows them
 * @throws ChatError `forbidden`; `validation_failed` when no route has the path; `not_found` for a method that no such
 *   route has, and an unknown profile; `conflict` when the method and the path already have a profile, or there are too
 *   many assignments
 */
export const createAssignment = useCase({
  takes: ['actor', 'endpoints'],
  input: LimitAssignmentInput,
  errors: ['not_found', 'conflict'],
  run: async (ctx, actor, endpoints, { profile_id, method, path }): Promise<LimitAssignment> => {
    assertAdmin(actor)
    if (!endpoints.some((rule) => covers({ method: '*', path_pattern: path }, rule)))
      throw new ChatError('validation_failed', {
        errors: [{ path: 'path', message: 'must be the path of a route, or the beginning of one and *' }],
      })
    if (!endpoints.some((rule) => covers({ method, path_pattern: path }, rule))) throw new ChatError('not_found')
    return ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      await assertRoom(tx, 'assignments')
      const profile = await store.lockProfile(tx, profile_id)
      if (!profile) throw new ChatError('not_found')
      const at = ctx.now()
      const row = { id: ctx.id(), profile_id, method, path_pattern: path, created_at: at, updated_at: at }
      if (!(await store.insertAssignment(tx, row))) throw new ChatError('conflict')
      await store.setLimitsVersion(tx, ctx.id())
      record(tx, actor, 'limit_assignment.created', row.id, { profile: profile.name, method, path })
      return store.toAssignment({ ...row, profile_name: profile.name })
    })
  },
})

/** Removes the assignment of a profile. @throws ChatError `forbidden`; `not_found` */
export const deleteAssignment = useCase({
  takes: ['actor', 'id'],
  errors: ['not_found'],
  run: async (ctx, actor, id): Promise<void> => {
    assertAdmin(actor)
    await ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      const assignment = await store.deleteAssignment(tx, id)
      if (!assignment) throw new ChatError('not_found')
      await store.setLimitsVersion(tx, ctx.id())
      record(tx, actor, 'limit_assignment.deleted', id, { method: assignment.method, path: assignment.path_pattern })
    })
  },
})

/** @throws ChatError `conflict` at the maximum; until the transaction ends no other call adds one */
async function assertRoom(tx: Tx, what: 'profiles' | 'assignments'): Promise<void> {
  if ((await store.lockAndCount(tx, what)) < MAX_ENTRIES) return
  throw new ChatError('conflict', { message: `There are at most ${MAX_ENTRIES} ${what}: delete one first.` })
}

function record(tx: Tx, actor: Actor, act: AuditAct, subject_id: string, detail: Record<string, string | number>) {
  tx.audit({ act, actor_id: actor.user_id || undefined, subject_id, ip: actor.ip, detail })
}
