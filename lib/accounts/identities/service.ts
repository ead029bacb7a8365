import { refuseKeys } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { findUser, lockUser } from '../users/store.ts'
import type { OwnIdentities } from './schema.ts'
import { deleteIdentity, type IdentityRow, listIdentities } from './store.ts'

/** The identities at providers that are linked to the actor, newest first. @throws ChatError `forbidden` with an API key */
export const list = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<OwnIdentities> => {
    refuseKeys(actor)
    const rows = await listIdentities(ctx.db, actor.user_id)
    return { identities: rows.map(({ user_id: _, ...row }) => ({ ...row, created_at: toInstant(row.created_at) })) }
  },
})

/**
 * Removes an identity of the actor: it can no longer sign in.
 *
 * @throws ChatError `forbidden` with an API key; `not_found`; `conflict` for the only means of sign-in
 */
export const remove = useCase({
  takes: ['actor', 'identity_id'],
  errors: ['not_found', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, identityId): Promise<void> => {
    refuseKeys(actor)
    const { user_id } = actor
    // An identity without a configured provider cannot sign in.
    const signsIn = ({ provider }: IdentityRow) => ctx.accounts.providers.has(provider)
    await ctx.write(async (tx) => {
      // If two calls remove the last two at once, the second one sees the result of the first.
      await lockUser(tx, user_id)
      const rows = await listIdentities(tx, user_id)
      const row = rows.find(({ id }) => id === identityId)
      if (!row) throw new ChatError('not_found')
      const hasOther =
        (await findUser(tx, user_id))?.password_hash || rows.some((each) => each !== row && signsIn(each))
      if (signsIn(row) && !hasOther)
        throw new ChatError('conflict', { message: 'This is the only way into the account: add another one first.' })
      await deleteIdentity(tx, row.id)
      tx.audit({ act: 'identity.removed', ...byActor(actor), subject_id: user_id, detail: { provider: row.provider } })
    })
  },
})
