import type { Queries } from '../../storage/database.ts'
import { toDisabled } from '../../storage/disabled-webhooks.ts'
import { type Micros, type Sql, sql, where } from '../../storage/sql.ts'
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
  table: Sql
  user: Sql
  /** The rows of a user, where the column has the id of another one; and those of all users, where others have some. */
  of?: (userId: string) => Sql
  ofAll?: Sql
  which?: Sql
  /** What ends a row that stays. Without it, rows are deleted. */
  ended?: (now: Micros) => Sql
  /** The column of the row that may stay, and its value. */
  except?: { column: Sql; value: keyof Ending }
}

const BOTS = sql`(SELECT bot.id FROM users bot WHERE bot.kind = 'bot' AND bot.kind <> 'person')`

/** The rows of the bots of a user. By bots_of_owner. */
const ofBots = (userId: string) => sql`user_id IN (SELECT bot.id FROM users bot WHERE bot.owner_id = ${userId})`

/** The rows of the means of access. `chat/invites` ends the invites into conversations. */
export const ROWS: Record<Exclude<Means, 'invites' | 'tokens'>, Rows> = {
  sessions: { table: sql`sessions`, user: sql`user_id`, except: { column: sql`id`, value: 'session' } },
  keys: {
    table: sql`api_keys`,
    user: sql`user_id`,
    ofAll: sql`user_id NOT IN ${BOTS}`,
    which: sql`grant_id IS NULL`,
  },
  bot_keys: { table: sql`api_keys`, user: sql`user_id`, of: ofBots, ofAll: sql`user_id IN ${BOTS}` },
  // Their tokens end with them, by a cascading key.
  grants: { table: sql`grants`, user: sql`user_id` },
  // The host's own authentication, which has no issuer, still finds its user.
  identities: { table: sql`identities`, user: sql`user_id`, which: sql`issuer <> ''` },
  link_attempts: { table: sql`oauth_states`, user: sql`link_user_id` },
  reset_links: { table: sql`password_resets`, user: sql`user_id` },
  verification_links: { table: sql`email_verifications`, user: sql`user_id` },
  address_changes: { table: sql`email_requests`, user: sql`user_id`, which: sql`kind = 'change'` },
  undo_links: {
    table: sql`email_requests`,
    user: sql`user_id`,
    which: sql`kind = 'undo'`,
    except: { column: sql`email_key`, value: 'email_key' },
  },
  hooks: { table: sql`hooks`, user: sql`created_by` },
  webhooks: {
    table: sql`webhooks`,
    user: sql`user_id`,
    which: sql`status <> 'disabled'`,
    ended: (now) => toDisabled('lockdown', now),
  },
  known_browsers: { table: sql`known_devices`, user: sql`user_id` },
}

/** Ends the rows of a means. By the index of its table on the user. @returns the number that ended */
export function deleteMeans(
  tx: Queries,
  means: keyof typeof ROWS,
  holder: Holder,
  { now, ...stays }: Ending & { now: Micros },
): Promise<number> {
  const { table, user, of, ofAll, which, except, ended }: Rows = ROWS[means]
  const kept = except && stays[except.value]
  const rows =
    'all' in holder ? (ofAll ?? sql`${user} IS NOT NULL`) : (of?.(holder.user_id) ?? sql`${user} = ${holder.user_id}`)
  const ending = where(rows, which, !!kept && sql`${except.column} <> ${kept}`)
  return tx.run(ended ? sql`UPDATE ${table} SET ${ended(now)} ${ending}` : sql`DELETE FROM ${table} ${ending}`)
}

/** Refuses the signed tokens that were issued up to an instant. They have no rows, so none is counted. */
export async function refuseTokens(tx: Queries, holder: Holder, at: Micros): Promise<void> {
  const users = 'all' in holder ? sql`` : sql`AND id = ${holder.user_id}`
  await tx.run(sql`UPDATE users SET tokens_after = ${at} WHERE tokens_after < ${at} ${users}`)
}

/** The number of sessions that have not expired, without one that stays. By sessions_of_user. */
export async function countLiveSessions(
  db: Queries,
  holder: Holder,
  { now, except = '' }: { now: Micros; except?: string | undefined },
): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM sessions
      WHERE idle_expires_at >= ${now} AND absolute_expires_at >= ${now} AND id <> ${except}
            ${'all' in holder ? sql`` : sql`AND user_id = ${holder.user_id}`}`,
  )
  return row!.count
}

/** The names of a user's keys, of those of the user's bots, or of the applications with a grant. By user_id. */
export function listNames(
  db: Queries,
  means: 'keys' | 'bot_keys' | 'grants',
  userId: string,
): Promise<{ id: string; name: string }[]> {
  if (means === 'grants')
    return db.all(sql`SELECT id, client_name AS name FROM grants WHERE user_id = ${userId} ORDER BY id`)
  const rows = means === 'keys' ? sql`user_id = ${userId} AND grant_id IS NULL` : ofBots(userId)
  return db.all(sql`SELECT id, name FROM api_keys WHERE ${rows} ORDER BY id`)
}
