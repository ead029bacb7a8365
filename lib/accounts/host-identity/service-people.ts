import type { Context } from '../../context.ts'
import { assertRoles } from '../../core/access.ts'
import { type Actor, assertAdmin, refuseKeys, splitRoles } from '../../core/actor.ts'
import { ChatError, unlessUnknown } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { byActor, sessionEnded } from '../audit/rules.ts'
import { findPerson } from '../identities/host-person.ts'
import { type EnsuredAccount, HostPerson } from '../identities/schema.ts'
import { toAccount } from '../users/accounts.ts'
import { photosOf } from '../users/photos.ts'
import type { Account } from '../users/schema.ts'
import { endStreams } from '../users/store-changes.ts'
import { upsertHostUser } from './service.ts'

/**
 * The user of a person of the host's: the same at every call, and the same that `ports.identity` finds for this subject.
 * A new subject becomes a user; of a known one the given fields are stored. A username or an email address that another
 * user has is not taken over: the user keeps the old one, or gets a placeholder.
 *
 * @throws ChatError `forbidden` unless the actor is an administrator, and with an API key; `validation_failed`
 */
export const ensure = useCase({
  takes: ['actor'],
  input: HostPerson,
  errors: ['forbidden'],
  run: async (ctx, actor, input): Promise<{ user: Account }> => {
    const { user } = await ensurePerson(ctx, actor, input)
    return { user }
  },
})

/** The user of a person of the host's, as {@link ensure}, and whether the user is new. */
export async function ensurePerson(ctx: Context, actor: Actor, input: HostPerson): Promise<EnsuredAccount> {
  assertAdmin(actor)
  refuseKeys(actor)
  assertRoles(ctx.access.service, 'roles', input.roles ?? [])
  const user = await upsertHostUser(ctx, input, byActor(actor), actor)
  return { user: await toAccount(ctx.db, user, photosOf(ctx.config)), created: user.is_new === true }
}

/**
 * The actor of a person of the host's, for calls in the person's name.
 *
 * @throws ChatError `not_found` for a subject that neither `users.ensure` nor `ports.identity` has named yet;
 *   `account_disabled`
 */
export const actorOf = useCase({
  takes: ['subject'],
  errors: ['not_found', 'account_disabled', 'validation_failed'],
  run: async (ctx, subject): Promise<Actor> => {
    const user = await findPerson(ctx.db, subject)
    if (user.disabled_at) throw new ChatError('account_disabled')
    return { user_id: user.id, roles: splitRoles(user.roles) }
  },
})

/**
 * Ends the open streams of a person of the host's, on all nodes, and the links to files: call it when the person has logged
 * out. A stream that is opened after this call stays open. A subject without a user has no streams.
 *
 * @throws ChatError `validation_failed` for a subject that is none
 */
export const endForSubject = useCase({
  takes: ['subject'],
  errors: ['validation_failed'],
  frees: 'whole',
  run: (ctx, subject): Promise<void> => endLogins(ctx, subject),
})

/** @param admin an actor who ends them as an administrator, and must still be one */
export async function endLogins(ctx: Context, subject: string, admin?: Actor): Promise<void> {
  const user = await findPerson(ctx.db, subject).catch(unlessUnknown)
  if (!user) return
  await ctx.write(async (tx) => {
    if (admin) await ctx.accounts.assertStillAdmin(tx, admin)
    await endStreams(tx, user.id, ctx.now())
    tx.recheckStreams({ user_id: user.id })
    if (admin) tx.audit(sessionEnded('admin', { ...byActor(admin), subject_id: user.id }))
  })
}
