import { listReservedNames, listUsernames } from '../../lib/accounts/users/store-names.ts'
import { offeredKeys } from '../../lib/config/assistants.ts'
import type { Config } from '../../lib/config/parse.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { type Finding, warning } from './finding.ts'

/** The findings about users whose names address others; none without such users. */
export async function checkUsernames(db: Queries, config: Config): Promise<Finding[]> {
  const keys = offeredKeys(config)
  const reserved = await listReservedNames(db)
  const assistants = await listUsernames(db, keys)
  return [
    ...(reserved.length === 0
      ? []
      : [
          warning(
            'users.reserved_name',
            `Users have names that address several users: ${reserved.join(', ')}. "@all" always means all participants.`,
            RENAME,
          ),
        ]),
    ...(assistants.length === 0
      ? []
      : [
          warning(
            'users.assistant_name',
            `Users have the names of assistants: ${assistants.join(', ')}. Where they participate, "@" and the name mentions them, and asks no assistant.`,
            RENAME,
          ),
        ]),
  ]
}

const RENAME = 'Give each another name: "chat-server user set-username".'
