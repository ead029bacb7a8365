import { listVisible } from '../../accounts/users/store-people.ts'
import type { Context } from '../../context.ts'
import { type Access, narrower, type Reach, reachFor } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { NO_ID } from '../../core/ids.ts'
import type { Queries } from '../../storage/database.ts'
import { listSharing } from '../memberships/store-direct.ts'

/** An act towards another user, by the right that it takes. */
type Act = 'add_people' | 'open_direct'

/**
 * Whether an actor may know that a user exists: because the actor finds all users, or because a conversation shows it. For a
 * user that does not exist it takes as long.
 *
 * @param id of the user; `undefined` if there is none
 */
export async function isKnown(
  { access }: Pick<Context, 'access'>,
  db: Queries,
  actor: Actor,
  id: string | undefined,
): Promise<boolean> {
  return (await listKnown({ access }, db, actor, id === undefined ? [] : [id])).length > 0
}

/** The ones of these users that an actor may know to exist, as {@link isKnown}. */
export async function listKnown(
  { access }: Pick<Context, 'access'>,
  db: Queries,
  actor: Actor,
  ids: string[],
): Promise<string[]> {
  if (reachFor(access, actor, 'find_users') === 'everyone') return ids
  const visible = await listVisible(db, { user_id: actor.user_id, seesAll: false }, ids.length === 0 ? [NO_ID] : ids)
  return visible.map(({ id }) => id)
}

/** @throws ChatError `forbidden` if the actor may do this only towards users of a common conversation, and shares none */
export async function assertReaches(
  { access }: Pick<Context, 'access'>,
  db: Queries,
  actor: Actor,
  act: Act,
  id: string,
): Promise<void> {
  if (id === actor.user_id || reachFor(access, actor, act) !== 'shared') return
  if ((await listSharing(db, actor.user_id, [id])).length === 0)
    throw new ChatError('forbidden', { reason: 'not_shared' })
}

/** Towards which of the users that an actor finds it may do something. */
export function reachOfSearch(access: Access, actor: Actor, act: Act | undefined): Reach | undefined {
  const found = reachFor(access, actor, 'find_users')
  return act === undefined ? found : narrower(found, reachFor(access, actor, act))
}
