import { assertOperator } from '../../core/actor.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { endGrant } from './ending.ts'
import { type GrantsOfUsers, GrantsQuery } from './schema.ts'
import { listGrantsOfUsers, toGrant } from './store.ts'

/** What all users, or one, allow applications, newest first. @throws ChatError `forbidden` unless for the operator */
export const listAll = useCase({
  takes: ['actor'],
  input: GrantsQuery,
  run: async (ctx, actor, { limit, ...query }): Promise<GrantsOfUsers> => {
    assertOperator(actor)
    const rows = await listGrantsOfUsers(ctx.db, query, limit + 1)
    const shown = rows.slice(0, limit).map((row) => ({ ...toGrant(row, ctx.config.mcp.oauth), user_id: row.user_id }))
    const grants = fit(shown)
    return { grants, ...(rows.length > grants.length && { next_after: grants.at(-1)!.id }) }
  },
})

/**
 * Ends what any user allows an application. What does not exist any more is no error.
 *
 * @throws ChatError `forbidden` unless for the operator
 */
export const revokeAny = useCase({
  takes: ['actor', 'grant_id'],
  frees: 'whole',
  run: async (ctx, actor, grantId): Promise<void> => {
    assertOperator(actor)
    await ctx.write((tx) => endGrant(tx, grantId, { reason: 'admin', by: byActor(actor) }))
  },
})
