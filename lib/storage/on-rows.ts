import type { Primitive, Queries } from './database.ts'
import { type Sql, statement } from './sql.ts'

/** The columns of rows that a statement gets as its parameter. */
export type Columns<Row> = { readonly [Name in keyof Row]: 'text' | 'bigint' }

/** The names and types of columns, for `json_to_recordset`. */
export function columnsOf<Row>(columns: Columns<Row>): Sql {
  return statement(
    Object.entries(columns)
      .map(([name, type]) => `${name} ${type}`)
      .join(', '),
  )
}

/** A statement that runs on any number of rows. */
export interface OnRows<Row> {
  /** The statement for PostgreSQL; its parameter is all rows as JSON. */
  many: string
  /** The statement for PostgreSQL on rows that a statement has made, as the table `given`. */
  on(given: Sql): Sql
  run(tx: Queries, rows: readonly Row[]): Promise<void>
  /** What it returns for all rows together. */
  all<Result>(db: Queries, rows: readonly Row[]): Promise<Result[]>
}

/**
 * Makes a statement that runs on any number of rows: once for all of them on PostgreSQL, where each statement costs a
 * round trip, and once for each on SQLite, where taking JSON apart costs more than a statement.
 *
 * @param sql the statement, with the rows as the table `given`: ``(given) => sql`INSERT INTO items (id) SELECT id FROM ${given}` ``.
 *   SQLite takes `ON CONFLICT` after a SELECT only behind a condition, such as `WHERE true`.
 * @param options.joint for a statement that does the same work for several rows: SQLite runs it once for all, too
 * @param options.alone the same for SQLite, with the values of a row, each of which may stand more than once: for what runs with
 *   every post. SQLite puts a row that it selects aside before it inserts it, which takes as long as the rest.
 */
export function onRows<Row extends { [Name in keyof Row]: Primitive }>(
  columns: Columns<Row>,
  sql: (given: Sql, dialect: Queries['dialect']) => Sql,
  { joint = false, alone }: { joint?: boolean; alone?: (row: { readonly [Name in keyof Row]: Sql }) => Sql } = {},
): OnRows<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[]
  const values = Object.fromEntries(names.map((name) => [name, statement('?', [name])]))
  const table = statement(`(SELECT ${names.map((name) => `? AS ${name}`).join(', ')}) AS given`, names)
  const one = alone ? alone(values as { [Name in keyof Row]: Sql }) : sql(table, 'sqlite')
  const parts = names.map((name) => `value ->> '${name}' AS ${name}`)
  const all = joint && sql(statement(`(SELECT ${parts.join(', ')} FROM json_each(?)) AS given`), 'sqlite').text
  const many = sql(statement(`json_to_recordset(?) AS given(${columnsOf(columns).text})`), 'postgresql').text
  const valuesOf = (row: Row) => (one.params as typeof names).map((name) => row[name])
  return {
    many,
    on: (given) => sql(given, 'postgresql'),
    async run(tx, rows) {
      if (rows.length === 0) return
      if (tx.dialect === 'sqlite' && all && rows.length > 1) await tx.run(statement(all, [JSON.stringify(rows)]))
      else if (tx.dialect === 'sqlite') await Promise.all(rows.map((row) => tx.run(statement(one.text, valuesOf(row)))))
      else await tx.run(statement(many, [JSON.stringify(rows)]))
    },

    async all<Result>(db: Queries, rows: readonly Row[]): Promise<Result[]> {
      if (rows.length === 0) return []
      if (db.dialect === 'postgresql') return db.all<Result>(statement(many, [JSON.stringify(rows)]))
      return (await Promise.all(rows.map((row) => db.all<Result>(statement(one.text, valuesOf(row)))))).flat()
    },
  }
}

/** Runs several statements, each on rows of its own. */
export type Together<Rows> = (tx: Queries, rows: Rows) => Promise<void>

/**
 * Combines statements that need nothing of each other and never change the same row. On PostgreSQL those that have rows
 * are sent as one: each costs the server an execution and an answer, and the client a read.
 */
export function together<Rows extends { [Name in keyof Rows]: readonly object[] }>(
  statements: {
    [Name in keyof Rows]: Pick<OnRows<Rows[Name][number]>, 'many' | 'run'>
  },
): Together<Rows> {
  const names = Object.keys(statements) as (keyof Rows & string)[]
  return async (tx, rows) => {
    if (tx.dialect === 'sqlite') {
      await Promise.all(names.map((name) => statements[name].run(tx, rows[name])))
      return
    }
    const present = names.filter((name) => rows[name].length > 0)
    if (present.length === 0) return
    const steps = present.map((name) => `${name}_changed AS (${statements[name].many})`)
    const params = present.map((name) => JSON.stringify(rows[name]))
    await tx.run(statement(`WITH ${steps.join(', ')} SELECT 1`, params))
  }
}
