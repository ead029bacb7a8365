import { type Actor, assertAdmin, isGuest, type Role } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { AutoJoin } from '../conversations/schema-settings.ts'
import { OF_TWO } from './rules.ts'

/** How many conversations have automatic joins: a new account joins all of them in one transaction. */
export const MAX_AUTO_JOIN = 20

/** Whether a user with these roles joins such a conversation. */
export function joinsByItself(auto_join: AutoJoin, roles: readonly Role[]): boolean {
  return auto_join === 'everyone' || !isGuest({ roles })
}

/** @throws ChatError `forbidden` for a person who is no administrator: the room of all concerns the whole service */
export function assertAdministers(actor: Actor): void {
  if (actor.system === undefined) assertAdmin(actor)
}

/**
 * Refuses one more conversation with automatic joins, and one that has no place for more than two.
 *
 * @param others the number of the other ones
 * @throws ChatError `conflict`
 */
export function assertJoinsAutomatically({ is_group }: { is_group: number }, others: number): void {
  if (is_group === 0) throw new ChatError('conflict', OF_TWO)
  if (others >= MAX_AUTO_JOIN)
    throw new ChatError('conflict', { message: `At most ${MAX_AUTO_JOIN} conversations have auto_join.` })
}
