import type { Primitive, Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Means } from './rules.ts'

/** The user whose means end, or all users. */
export type Holder = { user_id: string } | { all: true }

/** What ends of a user's rows: all, or all but one. */
export interface Ending {
  /** The session that stays. */
  session?: string | undefined
  /** The key of the address whose links stay. */
  email_key?: string | undefined
}

/** Where the rows of a means are: a table, the column of the user, and which of the table's rows it is. */
interface Rows {
  table: string
  user: string
  which?: string
  /** The column of the row that may stay, and its value. */
  except?: { column: string; value: keyof Ending }
}

/** The rows of the means of access. `chat/invites` ends the invites into conversations. */
export const ROWS: Record<Exclude<Means, 'invites'>, Rows> = {
  sessions: { table: 'sessions', user: 'user_id', except: { column: 'id', value: 'session' } },
  keys: { table: 'api_keys', user: 'user_id' },
  // The host's own authentication, which has no issuer, still finds its user.
  identities: { table: 'identities', user: 'user_id', which: "issuer <> ''" },
  link_attempts: { table: 'oauth_states', user: 'link_user_id' },
  reset_links: { table: 'password_resets', user: 'user_id' },
  verification_links: { table: 'email_verifications', user: 'user_id' },
  address_changes: { table: 'email_requests', user: 'user_id', which: "kind = 'change'" },
  undo_links: {
    table: 'email_requests',
    user: 'user_id',
    which: "kind = 'undo'",
    except: { column: 'email_key', value: 'email_key' },
  },
  known_browsers: { table: 'known_devices', user: 'user_id' },
}

/** Deletes the rows of a means. By the index of its table on the user. @returns the number deleted */
export function deleteMeans(
  tx: Queries,
  means: keyof typeof ROWS,
  holder: Holder,
  stays: Ending = {},
): Promise<number> {
  const { table, user, which, except } = ROWS[means]
  const kept = except && stays[except.value]
  const conditions = ['all' in holder ? `${user} IS NOT NULL` : `${user} = ?`, which, kept && `${except.column} <> ?`]
  const values: Primitive[] = ['all' in holder ? [] : holder.user_id, kept ?? []].flat()
  return tx.run(`DELETE FROM ${table} WHERE ${conditions.filter(Boolean).join(' AND ')}`, ...values)
}

/** The number of sessions that have not expired, without one that stays. By sessions_of_user. */
export async function countLiveSessions(
  db: Queries,
  holder: Holder,
  { now, except = '' }: { now: Micros; except?: string | undefined },
): Promise<number> {
  const row = await db.get<{ count: number }>(
    `SELECT count(*) AS count FROM sessions
      WHERE idle_expires_at >= ? AND absolute_expires_at >= ? AND id <> ? ${'all' in holder ? '' : 'AND user_id = ?'}`,
    now,
    now,
    except,
    ...('all' in holder ? [] : [holder.user_id]),
  )
  return row!.count
}

/** The names of a user's keys. By api_keys_of_user. */
export function listKeyNames(db: Queries, userId: string): Promise<{ id: string; name: string }[]> {
  return db.all('SELECT id, name FROM api_keys WHERE user_id = ? ORDER BY id', userId)
}
