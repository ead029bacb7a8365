import { type Actor, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'

/**
 * The username of a user who chose none: the part of the address before the @, also of an @ in one of its other forms.
 *
 * @param email a valid one: it is normalised
 */
export function usernameOf(email: string): string {
  return email.trim().normalize('NFKC').split('@')[0]!.slice(0, 64)
}

/** What decides whether an account administers. */
export interface Standing {
  id: string
  roles: string
  disabled_at: number | null
}

/** Whether an account administers the service: it has the role and is not disabled. */
export function administers({ roles, disabled_at }: Omit<Standing, 'id'>): boolean {
  return disabled_at === null && splitRoles(roles).includes('admin')
}

/** Whether of these accounts this one alone administers. */
export function isLastAdmin(accounts: Standing[], id: string): boolean {
  const admins = accounts.filter(administers)
  return admins.length === 1 && admins[0]!.id === id
}

/**
 * The same inside a transaction, of what is stored: somebody else may have disabled them since the call was let in.
 * Who has no account administers by other means, as the operator does.
 *
 * @param accounts that of the actor among them, if there is one
 * @throws ChatError `forbidden` when the actor is no administrator any more
 */
export function assertStillAdmin(accounts: Standing[], actor: Actor): void {
  const self = accounts.find((account) => account.id === actor.user_id)
  if (self && !administers(self)) throw new ChatError('forbidden')
}
