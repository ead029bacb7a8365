import { byActor } from '../../accounts/audit/rules.ts'
import { findUser, findUserByEmail, findUserByUsername, type UserRow } from '../../accounts/users/store.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { lockAsMember } from '../conversations/access.ts'
import { join } from '../conversations/join.ts'
import { canManage } from '../conversations/rules.ts'
import {
  type AddedParticipant,
  type ChangedParticipant,
  ParticipantInput,
  type ParticipantRole,
  RoleChange,
} from '../conversations/schema.ts'
import { countParticipants, findMembership, toParticipant, updateRole } from '../conversations/store.ts'
import { createInvite } from '../invites/create.ts'
import { revokeInvitesOf } from '../invites/revocation.ts'
import { rolesBeyond } from '../invites/rules.ts'
import { endParticipation } from './ending.ts'

export { list } from '../conversations/service-participants.ts'

/**
 * Adds a user to a conversation and publishes an event. For an email address that no user has verified, it creates an
 * invite instead.
 *
 * @throws ChatError `not_found` for the conversation or the user; `forbidden` below admin, or to add an owner without
 *   being one; `already_participant`; `conflict` for a third participant in a direct conversation
 */
export const add = useCase({
  takes: ['actor', 'conversation_id'],
  input: ParticipantInput,
  errors: ['not_found', 'forbidden', 'already_participant', 'conflict'],
  run: async (ctx, actor, conversationId, input): Promise<AddedParticipant> => {
    const added = await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
      if (!canManage(place.role, input.role)) throw new ChatError('forbidden')
      const user = await findInvitee(tx, input)
      if (!user && 'email' in input) {
        const { token, expires_at } = await createInvite(ctx, tx, actor, conversationId, input)
        return { invite: { token, expires_at } }
      }
      if (!user || user.disabled_at) throw new ChatError('not_found', { message: 'There is no such user.' })
      const joined = await join(tx, conversationId, { user, role: input.role, at: place.at })
      if (!joined) throw new ChatError('already_participant')
      const { id: user_id, username, display_name } = user
      return { row: { user_id, username, display_name, role: input.role, joined_at: place.at } }
    })
    if (!added.row) return { invite: added.invite }
    await ctx.presence.introduce(conversationId, added.row.user_id)
    return { participant: toParticipant(added.row, await ctx.presence.find(added.row.user_id)) }
  },
})

/**
 * Changes the role of a participant and publishes an event.
 *
 * @throws ChatError `not_found`, also for a user who is not a participant; `forbidden` below admin, or to make or
 *   change an owner without being one; `last_owner`
 */
export const changeRole = useCase({
  takes: ['actor', 'conversation_id', 'user_id'],
  input: RoleChange,
  errors: ['not_found', 'forbidden', 'last_owner'],
  run: async (ctx, actor, conversationId, userId, { role }): Promise<ChangedParticipant> => {
    const other = await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
      const other = await findMembership(tx, conversationId, userId)
      if (!other) throw new ChatError('not_found')
      if (!canManage(place.role, other.role) || !canManage(place.role, role)) throw new ChatError('forbidden')
      if (role !== 'owner') await assertNotLastOwner(tx, conversationId, other.role)
      await updateRole(tx, conversationId, userId, role)
      const made = { user_id: userId, conversation_id: conversationId, roles: rolesBeyond(role) }
      if (made.roles.length > 0) await revokeInvitesOf(ctx, tx, made, byActor(actor))
      tx.emit(conversationId, { type: 'membership.changed', user_id: userId, detail: { role, action: 'role_updated' } })
      return { ...other, user: (await findUser(tx, userId))! }
    })
    const { user, joined_at } = other
    const row = { user_id: userId, username: user.username, display_name: user.display_name, role, joined_at }
    return { participant: toParticipant(row, await ctx.presence.find(userId)) }
  },
})

/**
 * Removes a participant, whose streams of the conversation close. Every participant may leave.
 *
 * @throws ChatError `not_found`, also for a user who is not a participant; `forbidden`; `last_owner`
 */
export const remove = useCase({
  takes: ['actor', 'conversation_id', 'user_id'],
  errors: ['not_found', 'forbidden', 'last_owner'],
  run: async (ctx, actor, conversationId, userId): Promise<void> => {
    await ctx.write(async (tx) => {
      const place = await lockAsMember(
        ctx,
        tx,
        actor,
        { conversation_id: conversationId },
        { evenReadOnly: userId === actor.user_id },
      )
      const other = await findMembership(tx, conversationId, userId)
      if (!other) throw new ChatError('not_found')
      if (userId !== actor.user_id && !canManage(place.role, other.role)) throw new ChatError('forbidden')
      await assertNotLastOwner(tx, conversationId, other.role)
      await endParticipation(ctx, tx, { conversation_id: conversationId, user_id: userId }, byActor(actor))
    })
  },
})

async function assertNotLastOwner(tx: Queries, conversationId: string, role: ParticipantRole): Promise<void> {
  if (role === 'owner' && (await countParticipants(tx, conversationId)).owners === 1) throw new ChatError('last_owner')
}

/** An unverified address may belong to another person, who gets an invite. */
async function findUserByProvenEmail(tx: Queries, email: string): Promise<UserRow | undefined> {
  const user = await findUserByEmail(tx, email)
  return user?.email_verified_at === null ? undefined : user
}

function findInvitee(tx: Queries, input: ParticipantInput): Promise<UserRow | undefined> {
  if ('user_id' in input) return findUser(tx, input.user_id)
  return 'username' in input ? findUserByUsername(tx, input.username) : findUserByProvenEmail(tx, input.email)
}
