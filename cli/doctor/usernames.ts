import { listReservedNames } from '../../lib/accounts/users/store-names.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { type Finding, warning } from './finding.ts'

/** The finding about users of earlier versions whose names are reserved; none without such users. */
export async function checkUsernames(db: Queries): Promise<Finding[]> {
  const names = await listReservedNames(db)
  if (names.length === 0) return []
  return [
    warning(
      'users.reserved_name',
      `Users have names that address several users: ${names.join(', ')}. "@all" always means all participants.`,
      'Give each another name: "chat-server user set-username".',
    ),
  ]
}
