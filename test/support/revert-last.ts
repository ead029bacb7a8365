import type { Storage } from '../../lib/index.ts'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'

/** Reverts the last migration of a database, which only creates tables, columns and indexes. @returns its name */
export async function revertLast({ db }: Storage): Promise<string> {
  const { name, statements } = MIGRATIONS.at(-1)!
  const reverted = statements({} as never, db.dialect)
    .map(inverse)
    .reverse()
  await db.run('DELETE FROM migrations WHERE id = ?', MIGRATIONS.length)
  for (const statement of reverted) if (statement) await db.run(statement)
  return name
}

function inverse(sql: string): string | undefined {
  const [, table] = /^CREATE (?:UNLOGGED )?TABLE (\w+)/.exec(sql) ?? []
  if (table) return `DROP TABLE ${table}`
  const [, index] = /^CREATE (?:UNIQUE )?INDEX (\w+)/.exec(sql) ?? []
  if (index) return `DROP INDEX ${index}`
  const [, changed, column] = /^ALTER TABLE (\w+) ADD COLUMN (\w+)/.exec(sql) ?? []
  return column && `ALTER TABLE ${changed} DROP COLUMN ${column}`
}
