import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { endMeans } from '../means/ending.ts'
import type { Lockdown } from '../users/schema.ts'
import { takeAccount } from './service.ts'

/**
 * Ends everything that others may have got hold of: every means of access to the account. The account and its password
 * stay.
 *
 * @returns the number of sessions, keys, identities and invites that ended
 * @throws ChatError `forbidden`, also with an API key; `not_found`
 */
export const lockDown = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  frees: 'whole',
  run: async (ctx, actor, userId): Promise<Lockdown> => {
    assertAdmin(actor)
    refuseKeys(actor)
    return ctx.write(async (tx) => {
      await takeAccount(tx, actor, userId, { resigns: false })
      const by = byActor(actor)
      const { sessions, keys, bot_keys, identities, invites } = await endMeans(
        ctx,
        tx,
        { user_id: userId },
        'lockdown',
        { by },
      )
      const ended = { sessions, keys: keys + bot_keys, identities, invites }
      tx.audit({ act: 'user.locked_down', ...by, subject_id: userId, detail: ended })
      return ended
    })
  },
})
