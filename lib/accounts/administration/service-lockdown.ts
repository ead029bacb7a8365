import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { useCase } from '../../core/use-case.ts'
import { deleteApiKeysOf } from '../api-keys/store.ts'
import { byActor } from '../audit/rules.ts'
import { deleteRequestsOf } from '../email-requests/store.ts'
import { deleteIdentities } from '../identities/store.ts'
import { deleteStatesOf } from '../oauth/store.ts'
import { deleteResets } from '../password-resets/store.ts'
import { forgetDevices } from '../passwords/known-devices.ts'
import { endSessions } from '../sessions/store-list.ts'
import type { Lockdown } from '../users/schema.ts'
import { takeAccount } from './service.ts'

/**
 * Ends everything that others may have got hold of: a user's sessions with their streams, API keys, provider
 * identities, password links, known browsers, and the invites the user created. The account and its password stay.
 *
 * @returns the number of sessions, keys, identities and invites that ended
 * @throws ChatError `forbidden`, also with an API key; `not_found`
 */
export const lockDown = useCase({
  takes: ['actor', 'user_id'],
  errors: ['not_found'],
  run: async (ctx, actor, userId): Promise<Lockdown> => {
    assertAdmin(actor)
    refuseKeys(actor)
    return ctx.write(async (tx) => {
      await takeAccount(tx, actor, userId, { resigns: false })
      const ended = {
        sessions: await endSessions(tx, { user_id: userId }),
        keys: await deleteApiKeysOf(tx, userId),
        identities: await deleteIdentities(tx, userId),
        invites: await ctx.revokeInvites(tx, userId, byActor(actor)),
      }
      await deleteStatesOf(tx, userId)
      await deleteResets(tx, userId)
      await deleteRequestsOf(tx, userId, 'change')
      await forgetDevices(tx, userId)
      tx.audit({ act: 'user.locked_down', ...byActor(actor), subject_id: userId, detail: ended })
      tx.recheckStreams({ user_id: userId })
      return ended
    })
  },
})
