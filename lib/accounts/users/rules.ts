import { type Actor, isGuest, splitRoles } from '../../core/actor.ts'
import { isReservedName } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'

/**
 * The default username: the part of the address before the @, also of an @ in a compatibility form. A reserved name gets a
 * number.
 */
export function defaultUsername(email: string): string {
  const name = email.trim().slice(0, MAX_LENGTH.email).normalize('NFKC').split('@')[0]!.slice(0, 64)
  return isReservedName(name) ? `${name}-1` : name
}

/** What a user is. A guest and a bot have no sign-in; what is said of a part of the host is its name as a system actor. */
export type UserKind = 'person' | 'guest' | 'bot'

/** The kind of a user whose roles have changed: no person becomes a guest, and a bot stays one. */
export function kindWith(kind: UserKind, roles: string): UserKind {
  if (kind === 'bot') return kind
  return kind === 'guest' && isGuest({ roles: splitRoles(roles) }) ? 'guest' : 'person'
}

/** Whether these roles would make a guest of a person. */
function becomesGuest(kind: UserKind, roles: string): boolean {
  return kind === 'person' && isGuest({ roles: splitRoles(roles) })
}

/** The roles of a user that a host says has others: those that would make a guest of a person are ignored. */
export function rolesWith(user: { kind: UserKind; roles: string }, roles = user.roles): string {
  return becomesGuest(user.kind, roles) ? user.roles : roles
}

/** @throws ChatError `validation_failed` for roles that would make a guest of a person */
export function assertNoGuest(kind: UserKind, roles: readonly string[]): void {
  if (becomesGuest(kind, roles.join(',')))
    throw new ChatError('validation_failed', {
      errors: [{ path: 'roles', message: 'must not make a guest of a person' }],
    })
}

/** Domains of the placeholder addresses of users of hosts, system actors, probes, guests and bots (RFC 2606). */
export const PLACEHOLDER_DOMAINS = {
  host: 'host.invalid',
  system: 'system.invalid',
  probe: 'doctor.invalid',
  guest: 'guest.invalid',
  bot: 'bot.invalid',
}

/** Whether an address only stands for none, so that no reader sees it. */
export function isPlaceholder(email: string): boolean {
  return Object.values(PLACEHOLDER_DOMAINS).some((domain) => email.endsWith(`@${domain}`))
}

/** The actor of a user, for calls without a session. */
export function toActor({ id, roles, kind }: { id: string; roles: string; kind: UserKind }): Actor {
  return { user_id: id, roles: splitRoles(roles), ...(kind === 'bot' && { is_bot: true as const }) }
}

/** The columns that decide whether an account is an administrator. */
export interface Standing {
  id: string
  roles: string
  disabled_at: number | null
}

/** Whether an account is an active administrator: it has the role and is not disabled. */
export function administers({ roles, disabled_at }: Omit<Standing, 'id'>): boolean {
  return disabled_at === null && splitRoles(roles).includes('admin')
}

/**
 * Refuses to a server key what would change an administrator: a stolen key must not take over an account that may do all.
 *
 * @throws ChatError `forbidden`
 */
export function assertSparesAdministrators(
  { roles }: Pick<Standing, 'roles'>,
  { server_key }: Pick<Actor, 'server_key'>,
): void {
  if (server_key === undefined || !splitRoles(roles).includes('admin')) return
  throw new ChatError('forbidden', { reason: 'key', message: 'A server key changes no administrators.' })
}

/** Whether this account is the only active administrator among these. */
export function isLastAdmin(accounts: Standing[], id: string): boolean {
  const admins = accounts.filter(administers)
  return admins.length === 1 && admins[0]!.id === id
}

/**
 * Refuses inside a transaction, by the stored roles: the actor may have been disabled since the call was
 * authenticated. An actor without an account, the operator, passes.
 *
 * @param accounts including the actor's, if it has one
 * @throws ChatError `forbidden` when the actor is no longer an administrator
 */
export function assertStillAdmin(accounts: Standing[], actor: Actor): void {
  const self = accounts.find((account) => account.id === actor.user_id)
  if (self && !administers(self)) throw new ChatError('forbidden', { reason: 'role' })
}
