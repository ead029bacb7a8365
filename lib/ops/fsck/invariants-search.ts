import { PARTITION, toDoc } from '../../chat/search/rules.ts'
import { partitionTable } from '../../chat/search/store-fts5.ts'
import type { Dialect } from '../../storage/database.ts'
import { join, literal, NEXT_DOC, name, type Sql, sql } from '../../storage/sql.ts'
import { type Invariant, messagesWhere } from './invariant.ts'

/** Where the index is kept. */
const IS_ON = sql`EXISTS (SELECT 1 FROM meta WHERE name = 'search' AND value <> 'off')`

/** Where the index is kept, and filled, and no task removes messages: what is being removed is hidden from the checks. */
const IS_KEPT = sql`${IS_ON}
  AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind IN ('search.fill', 'conversation.remove', 'user.erase'))`

/** The numbers that several messages have. */
const SHARED = sql`WHERE doc IS NOT NULL GROUP BY doc HAVING count(*) > 1`

/** All but one of the messages with a number get another one; the index takes in both anew. */
const UNIQUE: Invariant = {
  name: 'search-doc-unique',
  says: 'No two messages have the same number in the search index.',
  find: sql`SELECT doc AS id FROM messages ${SHARED}`,
  async repair(tx) {
    await tx.run(sql`INSERT INTO search_changes (doc, message_id, version)
      SELECT doc, first_id, 1 FROM (SELECT doc, min(id) AS first_id FROM messages ${SHARED}) AS numbers WHERE ${IS_ON}
          ON CONFLICT (doc) DO UPDATE SET message_id = excluded.message_id, version = search_changes.version + 1`)
    const later = sql`SELECT m.id FROM messages m JOIN (SELECT doc, min(id) AS first_id FROM messages ${SHARED}) AS numbers
      ON numbers.doc = m.doc WHERE m.id <> numbers.first_id`
    await tx.run(
      tx.dialect === 'postgresql'
        ? sql`UPDATE messages SET doc = DEFAULT WHERE id IN (${later})`
        : sql`UPDATE messages SET doc = given.doc
                FROM (SELECT id, ${NEXT_DOC} - 1 + row_number() OVER (ORDER BY id) AS doc FROM (${later})) AS given
               WHERE messages.id = given.id`,
    )
  },
}

/** The SQL that finds messages in the index. */
interface Indexed {
  /** Whether it has the message with this number. */
  has(doc: Sql): Sql
  /** The columns `doc` of all of its messages, as the ends of SELECT statements. */
  docs: { doc: Sql; from: Sql }[]
}

const ON_POSTGRES: Indexed = {
  has: (doc) => sql`EXISTS (SELECT 1 FROM search_docs i WHERE i.doc = ${doc})`,
  docs: [{ doc: sql`i.doc`, from: sql`FROM search_docs i` }],
}

/** The index of SQLite: FTS5 has one row for each message in a partition. */
function onSqlite(partitions: readonly number[]): Indexed {
  const rows = (partition: number) => sql`${name(`${partitionTable(partition)}_docsize`)} i`
  const base = (partition: number) => literal(toDoc(partition, 0))
  return {
    has: (doc) => {
      const cases = partitions.reduce(
        (before, partition) =>
          sql`${before} WHEN ${literal(partition)} THEN
            EXISTS (SELECT 1 FROM ${rows(partition)} WHERE i.id = ${base(partition)} - ${doc})`,
        sql``,
      )
      return partitions.length > 0 ? sql`CASE ${doc} / ${literal(PARTITION)} ${cases} ELSE 0 END` : sql`0`
    },
    docs: partitions.map((partition) => ({ doc: sql`${base(partition)} - i.id`, from: sql`FROM ${rows(partition)}` })),
  }
}

/**
 * The invariants of the search index. They are repaired by noting the messages: then the service indexes them again.
 *
 * @param partitions those of the index of SQLite
 */
export function searchInvariants(dialect: Dialect, partitions: readonly number[]): Invariant[] {
  const indexed = dialect === 'sqlite' ? onSqlite(partitions) : ON_POSTGRES
  const isNoted = (doc: Sql) => sql`EXISTS (SELECT 1 FROM search_changes c WHERE c.doc = ${doc})`
  const wrong = messagesWhere(
    sql`${IS_KEPT} AND m.doc IS NOT NULL AND (m.deleted_at IS NULL) <> ${indexed.has(sql`m.doc`)} AND NOT ${isNoted(sql`m.doc`)}`,
  )
  const ghosts = (columns: (doc: Sql) => Sql) =>
    join(
      indexed.docs.map(
        ({ doc, from }) =>
          sql`SELECT ${columns(doc)} ${from} WHERE ${IS_KEPT}
             AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.doc = ${doc}) AND NOT ${isNoted(doc)}`,
      ),
      ' UNION ALL ',
    )
  const covers: Invariant = {
    name: 'search-covers-live',
    says: 'The messages in the search index are those that are not deleted, but for those noted as changed.',
    ...wrong,
    repair: sql`INSERT INTO search_changes (doc, message_id, version) SELECT m.doc, m.id, 1 FROM messages m WHERE ${wrong.where!}`,
  }
  // Its repair comes first: what has a new number is not in the index, which the next one repairs.
  if (indexed.docs.length === 0) return [UNIQUE, covers]
  return [
    UNIQUE,
    covers,
    {
      name: 'search-no-ghost',
      says: 'The search index has no message that does not exist.',
      find: ghosts((doc) => sql`${doc} AS id`),
      repair: sql`INSERT INTO search_changes (doc, message_id, version) ${ghosts((doc) => sql`${doc}, '', 1`)}`,
    },
  ]
}
