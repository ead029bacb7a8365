import type { StorageOptions } from '../../lib/index.ts'

/** Where the services of a run have their tables: `PLACEMENT=prefix` or `PLACEMENT=schema`, see `test/parts.ts`. */
const PLACEMENT = process.env.PLACEMENT

/** Whether the tables have other names than in the template databases. */
export const IS_PLACED = PLACEMENT !== undefined

/** The options of `openStorage` for this run. SQLite has no schemas. */
export function placementOf(url: string): Pick<StorageOptions, 'schema' | 'prefix'> {
  if (PLACEMENT === 'prefix') return { prefix: 'chat_' }
  return PLACEMENT === 'schema' && url.startsWith('postgres') ? { schema: 'chat' } : {}
}
