import type { Storage } from '../../lib/index.ts'
import { COLUMN_TYPES, MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { sql, statement } from '../../lib/storage/sql.ts'

/**
 * Reverts the last migration of a database: drops the tables, columns and indexes it has created, and creates those again
 * that it has dropped, without their rows. @returns its name
 */
export async function revertLast({ db }: Storage): Promise<string> {
  const [statements = [], ...earlier] = MIGRATIONS.toReversed().map((each) =>
    each.statements(COLUMN_TYPES[db.dialect], db.dialect),
  )
  const dropped = statements.flatMap((sql) => /^DROP TABLE (\w+)/.exec(sql)?.[1] ?? [])
  const unindexed = statements.flatMap((sql) => /^DROP INDEX (\w+)/.exec(sql)?.[1] ?? [])
  const isLost = (sql: string) =>
    dropped.some((table) => creates(table, sql)) || unindexed.some((index) => sql.startsWith(`CREATE INDEX ${index} `))
  const lost = earlier.flat().filter(isLost)
  await db.run(sql`DELETE FROM migrations WHERE id = ${MIGRATIONS.length}`)
  for (const text of [...statements.map(inverse).reverse(), ...lost]) if (text) await db.run(statement(text))
  return MIGRATIONS.at(-1)!.name
}

function inverse(sql: string): string | undefined {
  const [, table] = /^CREATE (?:UNLOGGED )?TABLE (\w+)/.exec(sql) ?? []
  if (table) return `DROP TABLE IF EXISTS ${table}`
  const [, index] = /^CREATE (?:UNIQUE )?INDEX (\w+)/.exec(sql) ?? []
  if (index) return `DROP INDEX ${index}`
  const [, changed, column] = /^ALTER TABLE (\w+) ADD COLUMN (\w+)/.exec(sql) ?? []
  return column && `ALTER TABLE ${changed} DROP COLUMN ${column}`
}

function creates(table: string, sql: string): boolean {
  return new RegExp(`^CREATE (TABLE ${table} |(UNIQUE )?INDEX \\w+ ON ${table} )`).test(sql)
}
