import type { Account } from 'chat-server/client/admin'
import { useApp } from '../app/context.ts'
import { Select } from '../parts/select.tsx'
import { administrationTexts } from '../texts/settings.ts'

/** What a user may do: `admin`, `member` or `read_only`, or the names of roles of which some are the host's own, as `member, sales`. */
export type RoleChoice = string

/** An administrator is a member, too. */
const ROLES: Partial<Record<RoleChoice, Account['roles']>> = {
  admin: ['admin', 'member'],
  member: ['member'],
  read_only: ['read_only'],
}

export function rolesOf(choice: RoleChoice): Account['roles'] {
  return ROLES[choice] ?? choice.split(', ')
}

/** The highest of the roles, if the host has configured none of them. */
export function choiceOf(roles: Account['roles']): RoleChoice {
  if (roles.some((role) => !(role in ROLES))) return [...roles].sort((one, other) => rank(one) - rank(other)).join(', ')
  return roles.includes('admin') ? 'admin' : roles.includes('member') ? 'member' : 'read_only'
}

/** Those that every service has stand before the host's own. */
const rank = (role: string) => (role in ROLES ? 0 : 1)

/** The name of a choice on the page. */
export function nameOfChoice(choice: RoleChoice): string {
  const names: Record<string, string> = administrationTexts.value.users.roles
  return rolesOf(choice)
    .filter((role) => choice !== 'admin' || role === 'admin')
    .map((role) => names[role] ?? role)
    .join(', ')
}

export function RoleSelect({ value, onChange }: { value: RoleChoice; onChange: (value: RoleChoice) => void }) {
  const { users } = administrationTexts.value
  const { roles } = useApp().features.access
  // Guests come by themselves; a user may have several of the host's own.
  const own = roles.filter((role) => !(role in ROLES) && role !== 'guest')
  // One of these gives nothing but the rights that it names: most are given beside the role of a member.
  const added = own.flatMap((role) => [`member, ${role}`, role])
  const choices = [...new Set(['member', 'admin', 'read_only', ...added, value])]
  return (
    <Select
      label={users.role}
      value={value}
      options={choices.map((each) => [each, own.includes(each) ? users.only(each) : nameOfChoice(each)])}
      onChange={onChange}
    />
  )
}
