import { type Micros, type Sql, sql } from './sql.ts'

/** Whether an API key or a server key, as `k`, has not expired. */
export const keyLives = (now: Micros): Sql => sql`(k.expires_at IS NULL OR k.expires_at >= ${now})`
