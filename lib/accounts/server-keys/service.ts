import { assertOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, newToken } from '../../core/ids.ts'
import { fromInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor } from '../audit/rules.ts'
import { SERVER_KEY_PREFIX } from './rules.ts'
import { type CreatedServerKey, SERVER_KEY_SCOPES, ServerKeyInput, type ServerKeys } from './schema.ts'
import { deleteServerKey, insertServerKey, listServerKeys, lockAndCountServerKeys, toServerKey } from './store.ts'

/** The maximum number of server keys that have not expired: enough for one per program of a host, and a bound for a loop that creates them. */
const MAX_SERVER_KEYS = 20

/**
 * Creates a server key. It is returned only here; the database has a digest.
 *
 * @throws ChatError `forbidden` unless the actor is the operator; `validation_failed`; `conflict` for an expiry in the past,
 *   and with too many keys
 */
export const create = useCase({
  takes: ['actor'],
  input: ServerKeyInput,
  errors: ['forbidden', 'conflict', 'validation_failed'],
  run: async (ctx, actor, input): Promise<CreatedServerKey> => {
    assertOperator(actor)
    const expires_at = input.expires_at === undefined ? null : fromInstant(input.expires_at)
    if (expires_at !== null && expires_at <= ctx.now())
      throw new ChatError('conflict', { message: 'A server key expires in the future.' })
    const key = SERVER_KEY_PREFIX + newToken()
    const scopes = SERVER_KEY_SCOPES.filter((scope) => input.scopes.includes(scope)).join()
    return ctx.write(async (tx) => {
      if ((await lockAndCountServerKeys(tx, ctx.now())) >= MAX_SERVER_KEYS)
        throw new ChatError('conflict', {
          message: `A service has at most ${MAX_SERVER_KEYS} server keys: revoke one.`,
        })
      const row = { id: ctx.id(), name: input.name, scopes, created_at: ctx.now(), expires_at }
      await insertServerKey(tx, { ...row, key_hash: digest(key) })
      const detail = { scopes: scopes.split(',') }
      tx.audit({ act: 'server_key.created', ...byActor(actor), subject_id: row.id, detail, names: { key: row.name } })
      return { ...toServerKey({ ...row, last_used_at: null }), key }
    })
  },
})

/** All server keys, newest first, expired ones too. @throws ChatError `forbidden` unless the actor is the operator */
export const list = useCase({
  takes: ['actor'],
  errors: ['forbidden'],
  run: async (ctx, actor): Promise<ServerKeys> => {
    assertOperator(actor)
    return { keys: (await listServerKeys(ctx.db)).map(toServerKey) }
  },
})

/**
 * Revokes a server key and closes its streams; the invites and the tokens that it has made end too. A key that does not
 * exist any more is no error.
 *
 * @throws ChatError `forbidden` unless the actor is the operator
 */
export const revoke = useCase({
  takes: ['actor', 'key_id'],
  errors: ['forbidden'],
  frees: 'whole',
  run: async (ctx, actor, keyId): Promise<void> => {
    assertOperator(actor)
    await ctx.write(async (tx) => {
      const key = await deleteServerKey(tx, keyId)
      if (!key) return
      tx.audit({ act: 'server_key.revoked', ...byActor(actor), subject_id: keyId, names: { key: key.name } })
      // All streams: it has acted for any number of users.
      tx.recheckStreams({ user_id: undefined })
    })
  },
})
