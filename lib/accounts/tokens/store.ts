import type { Queries } from '../../storage/database.ts'
import { keyLives } from '../../storage/live-keys.ts'
import { isAbandoned, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { UserKind } from '../users/rules.ts'
import type { Maker } from './rules.ts'

/** The user of a token, and whether what the token was made with has not ended. */
export interface Holder {
  roles: string
  kind: UserKind
  disabled_at: Micros | null
  /** Tokens that were made up to this instant are refused. */
  tokens_after: Micros
  /** 1 or 0. */
  is_maker_live: number
  /** 1 for a bot without an owner whose account is active. */
  is_abandoned: number
}

/** The instants by which makers are compared with the clock. */
interface Times {
  now: Micros
  sessionNow: Micros
}

/** The holder of a token; `undefined` when the user is erased. By primary keys. */
export function findHolder(db: Queries, userId: string, maker: Maker, times: Times): Promise<Holder | undefined> {
  return db.get<Holder>(
    sql`SELECT roles, kind, disabled_at, tokens_after, ${isAbandoned(sql`users`)} AS is_abandoned,
            CASE WHEN ${isLive(maker, times)} THEN 1 ELSE 0 END AS is_maker_live
       FROM users WHERE id = ${userId}`,
  )
}

/** A server key does not act for administrators, nor do its tokens. */
function isLive({ session_id, key_id }: Maker, { now, sessionNow }: Times): Sql {
  if (session_id !== undefined)
    return sql`EXISTS (SELECT 1 FROM sessions WHERE id = ${session_id}
                        AND idle_expires_at >= ${sessionNow} AND absolute_expires_at >= ${sessionNow})`
  if (key_id !== undefined)
    return sql`(EXISTS (SELECT 1 FROM api_keys k WHERE k.id = ${key_id} AND ${keyLives(now)})
               OR (EXISTS (SELECT 1 FROM server_keys k WHERE k.id = ${key_id} AND ${keyLives(now)})
                   AND ',' || roles || ',' NOT LIKE '%,admin,%'))`
  return sql`1 = 1`
}
