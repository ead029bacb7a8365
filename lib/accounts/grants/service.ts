import { refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { endGrant } from './ending.ts'
import type { Grants } from './schema.ts'
import { listGrants, toGrant } from './store.ts'

/** What the actor allows applications, newest first. @throws ChatError `forbidden` with a key */
export const list = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<Grants> => {
    refuseKeys(actor)
    const rows = await listGrants(ctx.db, actor.user_id)
    return { grants: rows.map((row) => toGrant(row, ctx.config.mcp.oauth)) }
  },
})

/**
 * Ends what the actor allows an application: its tokens are refused from the next call on, and what waits for one ends.
 *
 * @throws ChatError `forbidden` with a key; `not_found`
 */
export const revoke = useCase({
  takes: ['actor', 'grant_id'],
  errors: ['not_found'],
  frees: 'half',
  run: async (ctx, actor, grantId): Promise<void> => {
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      const ended = await endGrant(tx, grantId, { reason: 'user', by: byActor(actor), user_id: actor.user_id })
      if (!ended) throw new ChatError('not_found')
    })
  },
})
