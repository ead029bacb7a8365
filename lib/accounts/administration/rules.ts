import { joinRoles, splitRoles } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import type { Micros } from '../../storage/sql.ts'
import type { AuditEntry } from '../audit/store.ts'
import type { AccountChanges } from '../users/schema.ts'
import type { UserRow } from '../users/store.ts'

/** What a change makes of an account. */
export interface AccountPlan {
  after: UserRow
  /** Whether the account gets another address, not only another spelling of its own. */
  isMoved: boolean
  /** The entries of the audit log; the password itself is in none. */
  acts: AuditEntry[]
}

/** @param options.password_hash of a new password */
export function planChange(
  before: UserRow,
  input: AccountChanges,
  { password_hash, now }: { password_hash: string | undefined; now: Micros },
): AccountPlan {
  const isMoved = input.email !== undefined && uniqueKey(input.email) !== uniqueKey(before.email)
  const isVerified = input.email_verified ?? (!isMoved && before.email_verified_at !== null)
  const verified_at = isMoved ? now : (before.email_verified_at ?? now)
  const after = { ...before, email_verified_at: isVerified ? verified_at : null }
  if (input.email !== undefined) after.email = input.email.trim()
  if (input.roles) after.roles = joinRoles(input.roles)
  if (input.username !== undefined) after.username = input.username.normalize('NFC')
  if (input.display_name !== undefined) after.display_name = input.display_name || null
  if (input.disabled !== undefined) after.disabled_at = input.disabled ? (before.disabled_at ?? now) : null
  if (password_hash) after.password_hash = password_hash
  return { after, isMoved, acts: actsOf(before, after) }
}

/** Whether a change takes the right to administer from an account, if it has it. */
export function resigns({ disabled, roles }: AccountChanges): boolean {
  return disabled === true || (roles !== undefined && !roles.includes('admin'))
}

/** Whether a change gives an account a sign-in, other rights or an address: a system actor has none. */
export function isForPeople({ password, roles, email, email_verified }: AccountChanges): boolean {
  return [password, roles, email, email_verified].some((value) => value !== undefined)
}

/** The columns whose changes are recorded, by their names in the API. */
const RECORDED = {
  email: 'email',
  email_verified: 'email_verified_at',
  username: 'username',
  display_name: 'display_name',
  roles: 'roles',
  password: 'password_hash',
} as const

function actsOf(before: UserRow, after: UserRow): AuditEntry[] {
  const columns = Object.entries(RECORDED)
  const changed = columns.flatMap(([name, column]) => (before[column] === after[column] ? [] : [name]))
  const roles = before.roles !== after.roles && { roles: splitRoles(after.roles) }
  const acts: AuditEntry[] = changed.length > 0 ? [{ act: 'user.changed', detail: { changed, ...roles } }] : []
  const isDisabled = after.disabled_at !== null
  if (isDisabled !== (before.disabled_at !== null)) acts.push({ act: isDisabled ? 'user.disabled' : 'user.enabled' })
  return acts
}
