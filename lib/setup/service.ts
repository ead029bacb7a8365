import type { Client } from '../auth/service.ts'
import type { Context } from '../context.ts'
import { ChatError } from '../errors.ts'
import { usernameOf } from '../users/rules.ts'
import { addUser } from '../users/service.ts'
import { hasUsers, toUser } from '../users/store.ts'
import { AdministratorInput, type SetupDone, type SetupStatus } from './schema.ts'
import { claimSetup } from './store.ts'

/** What each use-case takes last. */
export const inputs = { run: AdministratorInput, runFrom: AdministratorInput }

/** Whether a user exists. */
export async function status(ctx: Context): Promise<SetupStatus> {
  return { is_setup: await hasUsers(ctx.db) }
}

/** @throws ChatError `already_set_up` */
export async function assertOpen(ctx: Context): Promise<void> {
  if (await hasUsers(ctx.db)) throw new ChatError('already_set_up')
}

/**
 * Creates the first user, who is an administrator. Of several calls at once exactly one does.
 *
 * @throws ChatError `already_set_up`
 */
export function run(ctx: Context, input: AdministratorInput): Promise<SetupDone> {
  return runFrom(ctx, {}, input)
}

/** The same for a client whose address is known. @throws ChatError `already_set_up` */
export async function runFrom(ctx: Context, client: Client, input: AdministratorInput): Promise<SetupDone> {
  await assertOpen(ctx)
  const password_hash = await ctx.passwords.hash(input.password, { ip: client.ip })
  return ctx.write(async (tx) => {
    if (!(await claimSetup(tx, ctx.now())) || (await hasUsers(tx))) throw new ChatError('already_set_up')
    const username = input.username ?? usernameOf(input.email)
    const row = await addUser(ctx, tx, {
      ...input,
      email_verified: true,
      username,
      roles: ['admin', 'member'],
      password_hash,
    })
    tx.record({ act: 'setup.done', actor_id: row.id, ip: client.ip })
    return { is_setup: true, user: toUser(row) }
  })
}
