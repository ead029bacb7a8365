import { findUser } from '../../accounts/users/store.ts'
import type { Context, RoomsOfInvites } from '../../context.ts'
import { type Access, may } from '../../core/access.ts'
import { isOperator, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import { reviewJoin } from '../hooks/before.ts'
import { join } from '../memberships/join.ts'
import { findMembership } from '../memberships/store.ts'
import { findConversation } from '../memberships/store-conversations.ts'
import { lockConversation } from '../memberships/store-locks.ts'

/** What invites to the service do in the conversations that they name. */
export function createRoomsOfInvites({ access, now }: Pick<Context, 'access' | 'now'>): RoomsOfInvites {
  return {
    async assertMayInvite(tx, actor, ids) {
      const maker_id = isOperator(actor) ? null : actor.user_id
      for (const id of ids)
        if (!(await invitesTo(access, tx, id, maker_id)))
          throw new ChatError('forbidden', { reason: 'participant_role', right: 'invite' })
    },
    async review(ctx, { ids, role, maker_id, email }) {
      if (!ctx.host.hooks.beforeJoin) return
      for (const conversation_id of ids)
        if (await invitesTo(access, ctx.db, conversation_id, maker_id))
          await reviewJoin(ctx, { conversation_id, email, role })
    },
    async join(tx, user, { ids, role, maker_id, ip }) {
      const joined = new Set<string>()
      // In one order, as others lock several.
      for (const id of ids.toSorted()) {
        const clock = await lockConversation(tx, id)
        if (clock === undefined || !(await invitesTo(access, tx, id, maker_id))) continue
        const at = Math.max(now(), clock + 1)
        tx.advanceClock(id, at)
        await join(tx, id, { user, role, at, by: { actor_id: user.id, ip } })
        joined.add(id)
      }
      return ids.filter((id) => joined.has(id))
    },
  }
}

/** Whether a user, or with `null` the operator, invites others to a conversation. By primary keys. */
async function invitesTo(
  access: Access,
  db: Queries,
  conversationId: string,
  makerId: string | null,
): Promise<boolean> {
  const conversation = await findConversation(db, conversationId)
  if (!conversation?.is_group || conversation.frozen_at !== null) return false
  if (makerId === null) return true
  const membership = await findMembership(db, conversationId, makerId)
  const maker = membership && (await findUser(db, makerId))
  if (!membership || !maker) return false
  const actor = { user_id: makerId, roles: splitRoles(maker.roles) }
  return may(access, { actor, role: membership.role, policy: membership.policy }, 'invite')
}
