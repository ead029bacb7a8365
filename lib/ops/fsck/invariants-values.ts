import { toList } from '../../chat/attachments/rules.ts'
import { listOfMessage, setList, toAttachment } from '../../chat/attachments/store.ts'
import { TABLES } from '../../storage/archive/format.ts'
import type { Dialect, Queries } from '../../storage/database.ts'
import { join, listOf, literal, name, type Sql, sql } from '../../storage/sql.ts'
import { CLOSED_COLUMNS, type ClosedColumn, LABELS, ROLES } from '../../storage/stored-values.ts'
import { type Invariant, messagesWhere } from './invariant.ts'

/** Whether a column has a value that is not of its set. */
function isForeign(column: string, { values }: ClosedColumn): Sql {
  return sql`${name(column)} NOT IN ${listOf(values)}`
}

/** Whether a column of names of roles has anything else. */
function isNoRole(column: string, dialect: Dialect): Sql {
  const other = dialect === 'postgresql' ? sql`~ '[^a-z0-9_,]'` : sql`GLOB '*[^a-z0-9_,]*'`
  return sql`(${name(column)} = '' OR ${name(column)} ${other})`
}

/** Whether a label has control characters. */
function isBroken(column: string, dialect: Dialect): Sql {
  if (dialect === 'postgresql') return sql`${name(column)} ~ '[[:cntrl:]]'`
  return sql`${name(column)} GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*'`
}

/** Rows of a table, by table, column and key. */
function rowsWhere(table: string, column: string, condition: Sql): Sql {
  const [, first, ...keys] = TABLES.find(([name]) => name === table)!
  const key = keys.reduce((text, column) => sql`${text} || ' ' || ${name(column)}`, name(first!))
  return sql`SELECT ${literal(`${table}.${column} `)} || ${key} AS id FROM ${name(table)} WHERE ${condition}`
}

/** The types that a file is served as, and shown with: the only foreign values with a right one. */
const TYPES = ['sniffed', 'thumbnail_type', 'type'] as const

function wrongTypes(dialect: Dialect): Record<(typeof TYPES)[number], Sql> {
  const { sniffed, thumbnail_type } = CLOSED_COLUMNS.attachments!
  return {
    sniffed: isForeign('sniffed', sniffed!),
    thumbnail_type: isForeign('thumbnail_type', thumbnail_type!),
    type: isBroken('type', dialect),
  }
}

/** Serves such files as bytes of no known type, without a thumbnail; their messages show what is stored then. */
async function repairTypes(tx: Queries): Promise<void> {
  const wrong = wrongTypes(tx.dialect)
  const rows = await tx.all<{ message_id: string }>(
    sql`SELECT DISTINCT message_id FROM attachments
      WHERE message_id IS NOT NULL AND (${join(Object.values(wrong), ' OR ')})`,
  )
  await tx.run(sql`UPDATE attachments SET sniffed = 'application/octet-stream' WHERE ${wrong.sniffed}`)
  await tx.run(
    sql`UPDATE attachments SET thumbnail_blob_id = NULL, thumbnail_type = NULL WHERE ${wrong.thumbnail_type}`,
  )
  await tx.run(sql`UPDATE attachments SET type = NULL WHERE ${wrong.type}`)
  for (const { message_id } of rows)
    await setList(tx, message_id, toList((await listOfMessage(tx, message_id)).map(toAttachment)))
}

/** The invariants of values that come from closed sets: a row of another program may have any. */
export function valueInvariants(dialect: Dialect): Invariant[] {
  const closed = Object.entries(CLOSED_COLUMNS).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, set]) => ({ table, column, set })),
  )
  const others = closed.filter(
    ({ table, column }) => table !== 'messages' && !(table === 'attachments' && TYPES.some((name) => name === column)),
  )
  const ofMessages = closed.filter(({ table }) => table === 'messages')
  const labels = Object.entries(LABELS).flatMap(([table, columns]) =>
    columns.filter((column) => column !== 'type').map((column) => rowsWhere(table, column, isBroken(column, dialect))),
  )
  const roles = Object.entries(ROLES).flatMap(([table, columns]) =>
    columns.map((column) => rowsWhere(table, column, isNoRole(column, dialect))),
  )
  return [
    {
      name: 'values-known',
      says: 'Roles, states and kinds are among those that the service writes, and names have no control characters.',
      remedy: 'Restore a backup, or set the value to one of those that the API has.',
      find: join(
        [
          ...others.map(({ table, column, set }) => rowsWhere(table, column, isForeign(column, set))),
          ...roles,
          ...labels,
        ],
        ' UNION ALL ',
      ),
    },
    {
      name: 'messages-known',
      says: 'The role and the status of a message are among those that the service writes.',
      remedy: 'Restore a backup, or set the value to one of those that the API has.',
      ...messagesWhere(
        join(
          ofMessages.map(({ column, set }) => isForeign(`m.${column}`, set)),
          ' OR ',
        ),
      ),
    },
    {
      name: 'attachments-types',
      says: 'A file is served as one of the types that the service recognises.',
      find: join(
        Object.entries(wrongTypes(dialect)).map(([column, wrong]) => rowsWhere('attachments', column, wrong)),
        ' UNION ALL ',
      ),
      repair: repairTypes,
    },
  ]
}
