import type { StorageOptions } from '../../lib/index.ts'

/**
 * Where the services of a run have their tables, and how they reach them: `PLACEMENT=prefix`, `schema` or `pooled`, see
 * `test/parts.ts`.
 */
const PLACEMENT = process.env.PLACEMENT

/** Whether every database of PostgreSQL is reached through PgBouncer (`test/support/pooled.ts`). */
export const IS_POOLED = PLACEMENT === 'pooled'

/** Whether the tables have other names than in the template databases. */
export const IS_PLACED = PLACEMENT !== undefined && !IS_POOLED

/** The options of `openStorage` for this run. SQLite has no schemas. */
export function placementOf(url: string): Pick<StorageOptions, 'schema' | 'prefix' | 'prepared_statements'> {
  if (PLACEMENT === 'prefix') return { prefix: 'chat_' }
  if (!url.startsWith('postgres')) return {}
  if (IS_POOLED) return { prepared_statements: false }
  return PLACEMENT === 'schema' ? { schema: 'chat' } : {}
}
