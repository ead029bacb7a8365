import type { Context } from '../context.ts'
import { type Sql, sql } from '../storage/sql.ts'
import type { TaskKind } from '../tasks/schema.ts'
import { listKeysWithTask } from '../tasks/store.ts'

/** Hidden data that a task must remove: the ids, and the kind of the task. */
const HIDDEN: [TaskKind, Sql][] = [
  ['conversation.remove', sql`SELECT id FROM conversations WHERE deleted_at IS NOT NULL`],
  ['user.erase', sql`SELECT user_id AS id FROM erased_authors`],
]

/** Adds missing removal tasks: an archive contains no tasks. */
export async function resumeRemovals({ db, write }: Pick<Context, 'db' | 'write'>): Promise<void> {
  for (const [kind, hidden] of HIDDEN) {
    const ids = (await db.all<{ id: string }>(hidden)).map((row) => row.id)
    if (ids.length === 0) continue
    const keys = await listKeysWithTask(db, kind, ids)
    const missing = ids.filter((id) => !keys.has(id))
    if (missing.length > 0)
      await write(async (tx) => {
        for (const key of missing) tx.enqueue({ kind, key })
      })
  }
}
