import { sql } from './sql.ts'

/** Whether a message `m` is stored as a variant of what is not the first answer in its place. */
export const FOREIGN_VARIANT = sql`m.variant_of IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages f
  WHERE f.id = m.variant_of AND f.conversation_id = m.conversation_id AND coalesce(f.parent_id, '') = coalesce(m.parent_id, '')
    AND f.variant_of IS NULL AND f.role = 'assistant' AND m.role = 'assistant')`
