import { byActor } from '../../accounts/audit/rules.ts'
import type { Context } from '../../context.ts'
import { assertOperator } from '../../core/actor.ts'
import { toInstant } from '../../core/time.ts'
import { MINUTE, SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { countSealed } from '../../integrations/webhooks/store-secrets.ts'
import { insertNextSecret, readSecrets } from '../../storage/secret.ts'
import { findTaskDetail } from '../../tasks/store.ts'
import { ROTATION } from './rotating.ts'
import type { SecretState } from './schema.ts'

/** When a new key of the database becomes the first: all processes know it then. */
const KNOWN_SECONDS = (2 * MINUTE) / SECOND

/** What is encrypted in the database, and whether a former key is still needed. Only for the operator. @throws ChatError `forbidden` */
export const secretState = useCase({
  takes: ['actor'],
  errors: ['forbidden'],
  run: (ctx, actor): Promise<SecretState> => {
    assertOperator(actor)
    return stateOf(ctx)
  },
})

/**
 * Has the running service encrypt anew what a former key has encrypted. Without a configured key it makes a new one in the
 * database first, and removes the former one when nothing needs it any more. With one that no process of the service has
 * it waits for an hour, and then changes nothing. Only for the operator.
 *
 * @throws ChatError `forbidden`
 */
export const rotateSecret = useCase({
  takes: ['actor'],
  errors: ['forbidden'],
  run: async (ctx, actor): Promise<SecretState> => {
    assertOperator(actor)
    // The present key must exist before it has a next one.
    const [first] = await ctx.keyring.names()
    const isStored = ctx.config.security.secret_key === undefined
    await ctx.write(async (tx) => {
      const { next, former } = await readSecrets(tx)
      // One that has begun ends first.
      const isNew = isStored && !next && !former
      if (isNew) await insertNextSecret(tx)
      const isLater = isNew || next !== undefined
      tx.enqueue({
        ...ROTATION,
        ...(!isStored && { detail: { key: first!.id } }),
        ...(isLater && { delay_seconds: KNOWN_SECONDS }),
      })
      tx.audit({ act: 'secret.rotated', ...byActor(actor) })
    })
    return stateOf(ctx)
  },
})

async function stateOf({ db, config, keyring }: Context): Promise<SecretState> {
  const [first, ...others] = (await keyring.names()).map(({ id }) => id)
  const counts = await countSealed(db)
  const sum = (ids: Iterable<string>) => [...ids].reduce((total, id) => total + (counts.get(id) ?? 0), 0)
  const values = sum(counts.keys())
  const old = sum(others)
  const task = await findTaskDetail(db, ROTATION.kind, ROTATION.key)
  return {
    values,
    old,
    lost: values - old - sum([first!]),
    in_database: config.security.secret_key === undefined,
    rotating: task !== undefined,
    ...(task?.waiting_until !== undefined && { waiting_until: toInstant(Number(task.waiting_until)) }),
  }
}
