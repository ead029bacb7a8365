import { sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

const WITHOUT_GRANT = sql`grant_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.id = api_keys.grant_id)`
const WITHOUT_USER = sql`NOT EXISTS (SELECT 1 FROM users u WHERE u.id = grants.user_id)`

/** What holds of what users allow applications. */
export const GRANTS: Invariant[] = [
  {
    name: 'token-has-grant',
    says: 'An access token belongs to what a user allows an application.',
    find: sql`SELECT id FROM api_keys WHERE ${WITHOUT_GRANT}`,
    // It gives access that no user sees or ends.
    repair: sql`DELETE FROM api_keys WHERE ${WITHOUT_GRANT}`,
  },
  {
    name: 'grant-has-user',
    says: 'What is allowed to an application is allowed by a user.',
    find: sql`SELECT id FROM grants WHERE ${WITHOUT_USER}`,
    repair: sql`DELETE FROM grants WHERE ${WITHOUT_USER}`,
  },
]
