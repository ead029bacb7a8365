import { joinRoles } from '../../core/actor.ts'
import { isReservedName } from '../../core/characters.ts'
import type { HostIdentity } from '../identities/schema.ts'
import { defaultUsername, kindWith, PLACEHOLDER_DOMAINS } from '../users/rules.ts'

/** The fields of a user that the host sets, as they are stored. A reserved username counts as missing. */
export function toProfile({ username, email, display_name, avatar_url, roles }: HostIdentity) {
  const definedRoles = roles?.filter((role) => role !== undefined)
  return {
    ...(username !== undefined && !isReservedName(username) && { username: username.normalize('NFC') }),
    ...(email !== undefined && { email: email.trim() }),
    ...(display_name !== undefined && { display_name }),
    ...(avatar_url !== undefined && { avatar_url }),
    ...(definedRoles && { roles: joinRoles(definedRoles) || 'member' }),
  }
}

/**
 * The name and address of a new user until the host provides better ones: an unused username, and an address that
 * cannot exist (RFC 2606).
 */
export function placeholderUser(
  id: string,
  { username, email, roles = 'member' }: Pick<HostIdentity, 'username' | 'email'> & { roles?: string },
) {
  const name = username ?? (email === undefined ? 'user' : defaultUsername(email))
  const isGuest = kindWith('guest', roles) === 'guest'
  return {
    id,
    email: `${id}@${PLACEHOLDER_DOMAINS.host}`,
    email_verified_at: null,
    // The end of an id is random.
    username: isGuest ? `guest-${id.slice(-10)}` : `${[...name].slice(0, 40).join('')}-${id.slice(-12)}`,
    display_name: null,
    avatar_url: null,
    roles: 'member',
    // As its roles say, once they are known.
    kind: 'guest' as const,
  }
}
