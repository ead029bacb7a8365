import type { Storage } from '../../lib/index.ts'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'

/** Reverts the last migration of a database, which only creates tables. @returns its name */
export async function revertLast({ db }: Storage): Promise<string> {
  const { name, statements } = MIGRATIONS.at(-1)!
  const created = statements({} as never, db.dialect).flatMap(
    (sql) => /^CREATE (UNLOGGED )?TABLE (\w+)/.exec(sql)?.[2] ?? [],
  )
  await db.run('DELETE FROM migrations WHERE id = ?', MIGRATIONS.length)
  for (const table of created.reverse()) await db.run(`DROP TABLE ${table}`)
  return name
}
