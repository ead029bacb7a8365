import * as v from 'valibot'
import type { Identity } from '../context.ts'
import { usernameOf } from '../users/rules.ts'
import { DisplayName, Email, Roles, Username } from '../users/schema.ts'

/** What the host says of somebody, as far as it can be kept; the rest counts as not said. */
export function usable(identity: Identity): Partial<Omit<Identity, 'subject' | 'roles'>> & { roles?: string } {
  const { username, email, display_name, roles } = identity
  const known = roles?.filter((role) => v.is(Roles, [role]))
  return {
    ...(v.is(Username, username) && { username: username.normalize('NFC') }),
    ...(v.is(Email, email) && { email: email.trim() }),
    ...(v.is(DisplayName, display_name) && { display_name }),
    ...(known && { roles: [...new Set(known)].sort().join(',') || 'member' }),
  }
}

/**
 * What a new user is called as long as the host says nothing better: a username that nobody has, and an address that
 * nobody can have (RFC 2606).
 */
export function madeUp(id: string, { username, email }: Pick<Identity, 'username' | 'email'>) {
  const name = username ?? (email === undefined ? 'user' : usernameOf(email))
  return {
    id,
    email: `${id}@host.invalid`,
    email_verified_at: null,
    username: `${[...name].slice(0, 40).join('')}-${id.slice(-12)}`,
    display_name: null,
    roles: 'member',
  }
}
