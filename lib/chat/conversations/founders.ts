import { lockUsers } from '../../accounts/users/store.ts'
import { findOwnerId } from '../../accounts/users/store-bots.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { NewNotification } from '../notifications/store-making.ts'
import type { ParticipantRole } from './schema.ts'

/** A participant from the beginning of a conversation. */
interface Founder {
  user_id: string
  role: ParticipantRole
}

/**
 * The first participants of a conversation that an actor creates: the actor as its owner. What a bot creates belongs to the
 * owner of the bot, which is an admin there.
 *
 * @throws ChatError `unauthenticated` for a bot without an owner
 */
export async function listFounders(tx: Queries, { user_id, is_bot }: Actor): Promise<Founder[]> {
  if (!is_bot) return [{ user_id, role: 'owner' }]
  const ownerId = await findOwnerId(tx, user_id)
  // Locked: an erasure either finds the conversation, or has disabled the owner before.
  const [owner] = ownerId === undefined ? [] : await lockUsers(tx, [ownerId], { admins: false })
  if (!owner || owner.disabled_at !== null) throw new ChatError('unauthenticated')
  return [
    { user_id: owner.id, role: 'owner' },
    { user_id, role: 'admin' },
  ]
}

/** The notification of the owner of a bot that has created a conversation. */
export function toOwnerAdded(
  { id }: Pick<Context, 'id'>,
  [owner, bot]: Founder[],
  place: { id: string; created_at: Micros },
): NewNotification {
  const about = { conversation_id: place.id, root_id: null, message_id: null, actor_user_id: bot!.user_id }
  const user = { user_id: owner!.user_id, level: null, muted_until: null, archived: 0 }
  return { id: id(), kind: 'added', ...about, at: place.created_at, users: [user] }
}
