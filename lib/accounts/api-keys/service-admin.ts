import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { endWebhooksOfKeys } from '../means/ending-webhooks.ts'
import { type KeysOfUsers, KeysQuery } from './schema-admin.ts'
import { deleteKey, listKeysOfUsers, toKeyOfUser } from './store.ts'

/**
 * The keys of all users or of one, newest first, including recently expired ones.
 *
 * @throws ChatError `forbidden`, also with an API key
 */
export const listAll = useCase({
  takes: ['actor'],
  input: KeysQuery,
  run: async (ctx, actor, { limit, ...query }): Promise<KeysOfUsers> => {
    assertAdmin(actor)
    refuseKeys(actor)
    const rows = await listKeysOfUsers(ctx.db, query, limit + 1)
    const keys = fit(rows.slice(0, limit).map(toKeyOfUser))
    return { keys, ...(rows.length > keys.length && { next_after: keys.at(-1)!.id }) }
  },
})

/**
 * Revokes a key of any user and closes its streams. A key that does not exist any more is no error.
 *
 * @throws ChatError `forbidden`, also with an API key
 */
export const revokeAny = useCase({
  takes: ['actor', 'key_id'],
  frees: 'whole',
  run: async (ctx, actor, keyId): Promise<void> => {
    assertAdmin(actor)
    refuseKeys(actor)
    await ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      const key = await deleteKey(tx, keyId)
      if (!key) return
      await endWebhooksOfKeys(tx, ctx.now(), { keyId, by: byActor(actor) })
      const detail = { reason: 'admin', user_id: key.user_id }
      tx.audit({ act: 'key.revoked', ...byActor(actor), subject_id: keyId, detail, names: { key: key.name } })
      tx.recheckStreams({ user_id: key.user_id })
    })
  },
})
