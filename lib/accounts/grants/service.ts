import { refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import type { Grants } from './schema.ts'
import { deleteGrant, listGrants, toGrant } from './store.ts'

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
      const grant = await deleteGrant(tx, grantId, actor.user_id)
      if (!grant) throw new ChatError('not_found')
      const detail = { reason: 'user' }
      tx.audit({
        act: 'grant.revoked',
        ...byActor(actor),
        subject_id: grantId,
        detail,
        names: { client: grant.client_name },
      })
      tx.recheckStreams({ user_id: actor.user_id })
    })
  },
})
