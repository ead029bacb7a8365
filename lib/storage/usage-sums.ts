import { sql } from './sql.ts'

/** The end of a statement that inserts sums: those of the same round, kind and key become one. */
export const ADD_TO_SUM = sql`ON CONFLICT (n, kind, key) DO UPDATE SET
       files = usage_sums.files + excluded.files,
       bytes = usage_sums.bytes + excluded.bytes,
       released_bytes = usage_sums.released_bytes + excluded.released_bytes,
       message_bytes = usage_sums.message_bytes + excluded.message_bytes,
       total = usage_sums.total + excluded.total`
