import type { Context } from '../../context.ts'
import type { Access } from '../../core/access.ts'
import type { HostIdentity } from '../identities/schema.ts'

/** The names that were warned of, by the rules that do not know them: each is written once. */
const warned = new WeakMap<Access, Set<string>>()

/** How many of them are remembered: more are ignored without a warning. */
const MAX_WARNED = 32

/**
 * What a host or a token says of a user, without roles that this service does not have: with none of them known, the user may
 * only read.
 */
export function withKnownRoles({ access, log }: Pick<Context, 'access' | 'log'>, identity: HostIdentity): HostIdentity {
  const given = identity.roles?.filter((role) => role !== undefined) ?? []
  const unknown = given.filter((role) => !access.service.has(role))
  if (unknown.length === 0) return identity
  const names = warned.get(access) ?? new Set()
  warned.set(access, names)
  for (const role of unknown) {
    if (names.has(role) || names.size >= MAX_WARNED) continue
    names.add(role)
    log.warn(`An identity has the role ${role}, which is not configured: it is ignored`)
  }
  const known = given.filter((role) => access.service.has(role))
  return { ...identity, roles: known.length > 0 ? known : ['read_only'] }
}
