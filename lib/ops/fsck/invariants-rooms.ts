import { sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

const SHOWN = sql`is_direct = 1 AND (visibility IS NOT NULL OR auto_join IS NOT NULL)`

/** A direct conversation belongs to two people. The repair hides it again. */
export const DIRECT_IS_PRIVATE: Invariant = {
  name: 'public-not-direct',
  says: 'A direct conversation is private, and no user joins it automatically.',
  find: sql`SELECT id FROM conversations WHERE ${SHOWN}`,
  repair: sql`UPDATE conversations SET visibility = NULL, auto_join = NULL WHERE ${SHOWN}`,
}
