import type { Role } from '../../core/actor.ts'
import type { ServerKeyScope } from './schema.ts'

/** The prefix of every server key, so that a lost one can be recognised. */
export const SERVER_KEY_PREFIX = 'csk_'

/** The header of a call that names for whose account a server key acts. */
export const ACT_AS = 'chat-act-as'

/** The account in whose name a server key acts: a user, or a part of the host. */
export type ActedAs = { subject: string } | { user_id: string } | { system: string }

/**
 * The longest value: each of the 255 UTF-16 units of a subject has at most three bytes, which are three characters each when
 * they are encoded.
 */
const MAX_ACT_AS = 2400

/** No comma and no space: a header that is sent twice arrives as one value that has both. */
const FORM = /^(subject|user|system):([!-+\--~]+)$/

/** The account that a header names; `undefined` if the header is malformed, or was sent twice. */
export function parseActAs(header: string): ActedAs | undefined {
  if (header.length > MAX_ACT_AS) return undefined
  const [, kind, name] = FORM.exec(header) ?? []
  if (kind === undefined || name === undefined) return undefined
  if (kind === 'user') return { user_id: name.toLowerCase() }
  if (kind === 'system') return { system: name }
  try {
    return { subject: decodeURIComponent(name) }
  } catch {
    return undefined
  }
}

/** Whether a server key acts for a user with these roles: not for administrators, so that a stolen one does not rule. */
export function actsFor(roles: readonly Role[]): boolean {
  return !roles.includes('admin')
}

/** Whether an API key or a server key that has not expired still serves for its user, whose roles are these now. */
export function servesFor({ is_server }: { is_server: number }, roles: readonly Role[]): boolean {
  return is_server === 0 || actsFor(roles)
}

/** The scope that it takes to act in the name of an account. */
export function scopeFor(account: ActedAs): ServerKeyScope {
  return 'system' in account ? 'system' : 'act_as'
}
