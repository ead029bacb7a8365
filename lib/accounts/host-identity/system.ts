import * as v from 'valibot'
import type { Context } from '../../context.ts'
import type { Actor, SystemProfile } from '../../core/actor.ts'
import { isReservedName } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { type NamesOf, refuseUnknown } from '../../core/known-names.ts'
import { parseInput } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { isTaken } from '../../storage/errors.ts'
import type { AuditActor } from '../audit/store.ts'
import { announceChange } from '../users/announcing.ts'
import { PLACEHOLDER_DOMAINS } from '../users/rules.ts'
import { AvatarUrl, DisplayName } from '../users/schema.ts'
import { lockUser } from '../users/store.ts'
import { insertUser, nameSystemUser, updateProfile } from '../users/store-naming.ts'
import { findSystemUser, type SystemUser } from '../users/store-system.ts'

const Named = v.object({
  name: v.pipe(
    v.string(),
    v.maxLength(40, 'must be at most 40 characters'),
    v.regex(/^[a-z0-9][a-z0-9._-]*$/, 'must be lower-case letters, digits, dots, underscores and hyphens'),
  ),
})

const Shown = v.object({ display_name: v.optional(DisplayName), avatar_url: v.optional(AvatarUrl) })

const PROFILE: NamesOf<SystemProfile> = { display_name: 0, avatar_url: 0 }

/**
 * A system actor of the host: a user without a sign-in, the same for a name at every call and on every node.
 *
 * @param by what names it, where that is a server key
 * @throws ChatError `validation_failed` for a name that is none, for a reserved one of no actor yet, and for a profile that
 *   cannot be stored; `account_disabled`
 * @throws TypeError for an unknown field of the profile
 */
export async function systemActor(
  ctx: Context,
  given: string,
  shown: SystemProfile = {},
  by: AuditActor = {},
): Promise<Actor> {
  refuseUnknown('chat.system', shown, PROFILE)
  const { name } = parseInput(Named, { name: given })
  const profile = parseInput(Shown, shown)
  for (;;) {
    const user = await findSystemUser(ctx.db, name)
    if (user?.disabled_at) throw new ChatError('account_disabled')
    if (user) {
      if (!isSame(user, withProfile(user, name, profile))) await ctx.write((tx) => update(ctx, tx, name, profile))
      return { user_id: user.id, roles: ['member'], system: name }
    }
    if (isReservedName(name)) {
      const message = 'is reserved, as it addresses several users'
      throw new ChatError('validation_failed', { errors: [{ path: 'name', message }] })
    }
    try {
      await ctx.write((tx) => create(ctx, tx, name, by))
    } catch (error) {
      // Another call was faster.
      if (!isTaken(error)) throw error
    }
  }
}

async function create(ctx: Context, tx: Tx, name: string, by: AuditActor): Promise<void> {
  const id = ctx.id()
  const row = {
    id,
    email: `${id}@${PLACEHOLDER_DOMAINS.system}`,
    email_verified_at: null,
    // Two calls at once may both add a user: one of them fails below.
    username: `${name}-${id.slice(-12)}`,
    display_name: name,
    avatar_url: null,
    roles: 'member',
    kind: 'person' as const,
    password_hash: null,
    disabled_at: null,
    created_at: ctx.now(),
  }
  const conflict = await insertUser(tx, row)
  if (conflict) throw new ChatError(conflict)
  await nameSystemUser(tx, id, name)
  tx.audit({ act: 'user.created', ...by, subject_id: id, detail: { by: 'host', roles: row.roles } })
}

async function update(ctx: Context, tx: Tx, name: string, profile: SystemProfile): Promise<void> {
  const unlocked = await findSystemUser(tx, name)
  if (!unlocked) return
  await lockUser(tx, unlocked.id)
  // Read again under the lock, so that a field that another call changes is kept.
  const user = (await findSystemUser(tx, name))!
  const changed = withProfile(user, name, profile)
  if (isSame(user, changed)) return
  await updateProfile(tx, changed, ctx.now())
  announceChange(tx, user, changed)
  tx.audit({ act: 'user.changed', subject_id: user.id, detail: { by: 'host', roles: user.roles } })
}

function withProfile(user: SystemUser, name: string, { display_name, avatar_url }: SystemProfile): SystemUser {
  return {
    ...user,
    ...(display_name !== undefined && { display_name: display_name || name }),
    ...(avatar_url !== undefined && { avatar_url: avatar_url || null }),
  }
}

function isSame(one: SystemUser, other: SystemUser): boolean {
  return one.display_name === other.display_name && one.avatar_url === other.avatar_url
}
