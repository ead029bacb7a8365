import { type Access, hasServiceRight, mayWrite, type Refusal } from '../../core/access.ts'
import { type Actor, isOperator } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { JoinPolicy } from '../conversations/schema-settings.ts'

/** What identifies the direct conversation of two people, in either order; or of one with themselves. */
export function toPairKey(one: string, other: string): string {
  return one < other ? `${one}:${other}` : `${other}:${one}`
}

/**
 * Refuses a change of a direct conversation that would make it something else.
 *
 * @throws ChatError `conflict`
 */
export function refuseDirect({ is_direct }: { is_direct: number }, what: string): void {
  if (is_direct === 1) throw new ChatError('conflict', { message: `A direct conversation stays as it is: ${what}.` })
}

/** Why nothing can be added to a direct conversation. */
export const CLOSED = { message: 'The other person of this direct conversation has no active account.' }

/** The number of participants of a conversation that is no group. */
export const PAIR = 2

/** Why a conversation that is no group gets no third participant. */
export const OF_TWO = { message: 'This conversation is between two people.' }

/** Why a conversation does not get a ref. */
export const REF_TAKEN = { message: 'Another conversation has this ref.' }

/**
 * Refuses a private conversation that anyone may join.
 *
 * @param policy as it is stored
 * @throws ChatError `conflict`
 */
export function assertJoinable(visibility: string | null, policy: string | null): void {
  if (visibility === null && joinPolicyOf(policy) === 'anyone')
    throw new ChatError('conflict', { message: 'A private conversation is joined by invite.' })
}

/** How users become participants of a conversation. */
export function joinPolicyOf(policy: string | null): JoinPolicy {
  return (policy === null ? {} : (JSON.parse(policy) as { join?: JoinPolicy })).join ?? 'invite'
}

/** Whether an actor sees conversations that are not private without participating: a user with the right to browse. */
export function mayBrowse(access: Access, actor: Pick<Actor, 'user_id' | 'roles' | 'system'>): boolean {
  return actor.system === undefined && !isOperator(actor) && hasServiceRight(access, actor.roles, 'browse')
}

/** Whether an actor who does not participate in a conversation reads it, as it is visible now. `null` is private. */
export function mayReadOpen(
  access: Access,
  actor: Pick<Actor, 'user_id' | 'roles' | 'system'>,
  visibility: string | null | undefined,
): boolean {
  return visibility === 'open' && mayBrowse(access, actor)
}

/** What decides whether users join a conversation by themselves, as it is stored. */
export interface Joinable {
  visibility: string | null
  policy: string | null
  frozen_at: number | null
  is_group: number
  participant_count: number
}

/** Whether a conversation gets no participant more, since it is between two people. */
export function isFull({ is_group, participant_count }: Pick<Joinable, 'is_group' | 'participant_count'>): boolean {
  return !is_group && participant_count >= PAIR
}

/** Why a conversation that is not private admits no user by itself; `undefined` if it does. */
export function refusalOfRoom({ policy, frozen_at }: Pick<Joinable, 'policy' | 'frozen_at'>): Refusal | undefined {
  if (joinPolicyOf(policy) !== 'anyone') return { reason: 'policy', right: 'join' }
  return frozen_at === null ? undefined : { reason: 'frozen' }
}

/** Whether an actor who does not participate in a conversation may join it by itself. */
export function mayJoin(access: Access, actor: Actor, room: Joinable): boolean {
  const isOpenToAll = room.visibility !== null && !refusalOfRoom(room) && !isFull(room)
  return mayWrite(access, actor.roles) && mayBrowse(access, actor) && isOpenToAll
}
