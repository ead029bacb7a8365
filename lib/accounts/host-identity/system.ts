import * as v from 'valibot'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { isReservedName } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { parseInput } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { isTaken } from '../../storage/errors.ts'
import { PLACEHOLDER_DOMAINS } from '../users/rules.ts'
import { insertUser, nameSystemUser } from '../users/store-naming.ts'
import { findSystemUser } from '../users/store-system.ts'

const Named = v.object({
  name: v.pipe(
    v.string(),
    v.maxLength(40, 'must be at most 40 characters'),
    v.regex(/^[a-z0-9][a-z0-9._-]*$/, 'must be lower-case letters, digits, dots, underscores and hyphens'),
  ),
})

/**
 * A system actor of the host: a user without a sign-in, the same for a name at every call and on every node.
 *
 * @throws ChatError `validation_failed` for a name that is none, and for a reserved one of no actor yet; `account_disabled`
 */
export async function systemActor(ctx: Context, given: string): Promise<Actor> {
  const { name } = parseInput(Named, { name: given })
  for (;;) {
    const user = await findSystemUser(ctx.db, name)
    if (user?.disabled_at) throw new ChatError('account_disabled')
    if (user) return { user_id: user.id, roles: ['member'], system: name }
    if (isReservedName(name)) {
      const message = 'is reserved, as it addresses several users'
      throw new ChatError('validation_failed', { errors: [{ path: 'name', message }] })
    }
    try {
      await ctx.write((tx) => create(ctx, tx, name))
    } catch (error) {
      // Another call was faster.
      if (!isTaken(error)) throw error
    }
  }
}

async function create(ctx: Context, tx: Tx, name: string): Promise<void> {
  const id = ctx.id()
  const row = {
    id,
    email: `${id}@${PLACEHOLDER_DOMAINS.system}`,
    email_verified_at: null,
    // Two calls at once may both add a user: one of them fails below.
    username: `${name}-${id.slice(-12)}`,
    display_name: name,
    roles: 'member',
    password_hash: null,
    disabled_at: null,
    created_at: ctx.now(),
  }
  const conflict = await insertUser(tx, row)
  if (conflict) throw new ChatError(conflict)
  await nameSystemUser(tx, id, name)
  tx.audit({ act: 'user.created', subject_id: id, detail: { by: 'host', roles: row.roles } })
}
