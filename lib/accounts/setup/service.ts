import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { digest, sameDigest } from '../../core/ids.ts'
import { useCase } from '../../core/use-case.ts'
import type { Client } from '../sessions/service.ts'
import { photosOf } from '../users/photos.ts'
import { defaultUsername } from '../users/rules.ts'
import { addUser } from '../users/service.ts'
import { hasUsers, toUser } from '../users/store.ts'
import { AdministratorInput, type SetupDone, SetupInput, type SetupStatus } from './schema.ts'
import { claimSetup } from './store.ts'

/** Whether a user exists. */
export const get = useCase({
  takes: [],
  run: async (ctx): Promise<SetupStatus> => {
    return { is_setup: await hasUsers(ctx.db) }
  },
})

/** @throws ChatError `already_set_up` */
export async function assertOpen(ctx: Context): Promise<void> {
  if (await hasUsers(ctx.db)) throw new ChatError('already_set_up')
}

/**
 * Creates the first user, an administrator. Of several calls at once exactly one succeeds. It requires no code: a
 * caller within the process has the configuration.
 *
 * @throws ChatError `already_set_up`
 */
export const run = useCase({
  takes: [],
  input: AdministratorInput,
  errors: ['already_set_up'],
  run: async (ctx, input): Promise<SetupDone> => {
    await assertOpen(ctx)
    return createFirst(ctx, {}, input)
  },
})

/**
 * Creates the first user for a client, which sends the code if one is configured.
 *
 * @throws ChatError `already_set_up`; `forbidden` for a wrong code
 */
export const runFrom = useCase({
  takes: ['client'],
  input: SetupInput,
  errors: ['already_set_up', 'forbidden'],
  run: async (ctx, client, input): Promise<SetupDone> => {
    await assertOpen(ctx)
    const { setup_code = '', ...administrator } = input
    const { code } = ctx.config.setup
    if (code !== undefined && !sameDigest(digest(setup_code), digest(code)))
      throw new ChatError('forbidden', { message: 'This needs the setup_code that the operator has configured.' })
    return createFirst(ctx, client, administrator)
  },
})

async function createFirst(ctx: Context, client: Client, input: AdministratorInput): Promise<SetupDone> {
  const password_hash = await ctx.accounts.passwords.hash(input.password, { ip: client.ip })
  return ctx.write(async (tx) => {
    if (!(await claimSetup(tx, ctx.now())) || (await hasUsers(tx))) throw new ChatError('already_set_up')
    const username = input.username ?? defaultUsername(input.email)
    const row = await addUser(ctx, tx, {
      ...input,
      email_verified: true,
      username,
      roles: ['admin', 'member'],
      password_hash,
    })
    await ctx.accounts.joinRooms(tx, row, client.ip)
    tx.audit({ act: 'setup.done', actor_id: row.id, ip: client.ip })
    return { is_setup: true, user: toUser(row, photosOf(ctx.config)) }
  })
}
