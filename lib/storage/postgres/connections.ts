import type { Queries } from '../database.ts'
import { sql } from '../sql.ts'

/** How many connections a service may have, and what sets the limit. */
export interface ConnectionLimit {
  /** The connections of the limit that no other process uses. */
  free: number
  /** What permits the fewest: `max_connections`, or the CONNECTION LIMIT of the role or of the database. */
  by: 'server' | 'role' | 'database'
  /** The name of the role or of the database; '' for the server. */
  name: string
}

interface LimitsRow {
  role: string
  database: string
  server_limit: number
  /** `null` without a limit. */
  role_limit: number | null
  database_limit: number | null
  others: number
  others_of_role: number
  others_of_database: number
}

/**
 * The least of what the server, the role and the database permit, less the sessions of others. All sessions of this role
 * in this database count as the service's, whatever their names: each machine may have its own.
 */
export async function findConnectionLimit(db: Queries): Promise<ConnectionLimit> {
  // A role that is no superuser sees of the sessions of other roles no more than the role and the database. The reserved
  // connections of PostgreSQL 16 are for members of a role that older versions do not have.
  const row = (await db.get<LimitsRow>(
    sql`WITH own AS (
       SELECT r.oid AS role_id, r.rolname, r.rolconnlimit, r.rolsuper, d.oid AS database_id, d.datname, d.datconnlimit
         FROM pg_roles r CROSS JOIN pg_database d
        WHERE r.rolname = session_user AND d.datname = current_database()),
     others AS (
       SELECT a.usesysid = own.role_id AS is_of_role, a.datid = own.database_id AS is_of_database
         FROM pg_stat_activity a CROSS JOIN own
        WHERE a.usesysid IS NOT NULL AND a.datid IS NOT NULL
          AND coalesce(a.backend_type, 'client backend') = 'client backend'
          AND NOT (a.usesysid = own.role_id AND a.datid = own.database_id))
     SELECT rolname AS role, datname AS database,
            current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int -
              CASE WHEN NOT rolsuper AND EXISTS (
                     SELECT FROM pg_roles WHERE rolname = 'pg_use_reserved_connections' AND pg_has_role(oid, 'USAGE'))
                   THEN 0
                   ELSE coalesce(current_setting('reserved_connections', true), '0')::int
               END AS server_limit,
            CASE WHEN NOT rolsuper AND rolconnlimit >= 0 THEN rolconnlimit END AS role_limit,
            CASE WHEN NOT rolsuper AND datconnlimit >= 0 THEN datconnlimit END AS database_limit,
            (SELECT count(*) FROM others) AS others,
            (SELECT count(*) FROM others WHERE is_of_role) AS others_of_role,
            (SELECT count(*) FROM others WHERE is_of_database) AS others_of_database
       FROM own`,
  ))!
  const { server_limit, role_limit, database_limit } = row
  const limits: ConnectionLimit[] = [{ free: server_limit - row.others, by: 'server', name: '' }]
  if (role_limit !== null) limits.push({ free: role_limit - row.others_of_role, by: 'role', name: row.role })
  if (database_limit !== null)
    limits.push({ free: database_limit - row.others_of_database, by: 'database', name: row.database })
  return limits.reduce((least, limit) => (limit.free < least.free ? limit : least))
}
