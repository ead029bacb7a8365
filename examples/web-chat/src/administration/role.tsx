import type { Account } from 'chat-server/client/admin'
import { Select } from '../parts/select.tsx'
import { administrationTexts } from '../texts/settings.ts'

/** What a user may do: an administrator is a member, too. */
export type RoleChoice = 'admin' | 'member' | 'read_only'

const ROLES: Record<RoleChoice, Account['roles']> = {
  admin: ['admin', 'member'],
  member: ['member'],
  read_only: ['read_only'],
}

export function rolesOf(choice: RoleChoice): Account['roles'] {
  return ROLES[choice]
}

/** The highest of the roles. */
export function choiceOf(roles: Account['roles']): RoleChoice {
  return roles.includes('admin') ? 'admin' : roles.includes('member') ? 'member' : 'read_only'
}

export function RoleSelect({ value, onChange }: { value: RoleChoice; onChange: (value: RoleChoice) => void }) {
  const { users } = administrationTexts.value
  return (
    <Select
      label={users.role}
      value={value}
      options={(['member', 'admin', 'read_only'] as const).map((each) => [each, users.roles[each]])}
      onChange={onChange}
    />
  )
}
