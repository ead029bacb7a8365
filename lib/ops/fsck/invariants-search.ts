import { PARTITION, toDoc } from '../../chat/search/rules.ts'
import { partitionTable } from '../../chat/search/store-fts5.ts'
import type { Dialect } from '../../storage/database.ts'
import { type Invariant, messagesWhere } from './invariant.ts'

/** Where the index is kept, and filled, and no task removes messages: what is being removed is hidden from the checks. */
const IS_KEPT = `EXISTS (SELECT 1 FROM meta WHERE name = 'search' AND value <> 'off')
  AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind IN ('search.fill', 'conversation.remove', 'user.erase'))`

/** The SQL that finds messages in the index. */
interface Indexed {
  /** Whether it has the message with this number. */
  has(doc: string): string
  /** The columns `doc` of all of its messages, as the ends of SELECT statements. */
  docs: { doc: string; from: string }[]
}

const ON_POSTGRES: Indexed = {
  has: (doc) => `EXISTS (SELECT 1 FROM search_docs i WHERE i.doc = ${doc})`,
  docs: [{ doc: 'i.doc', from: 'FROM search_docs i' }],
}

/** The index of SQLite: FTS5 has one row for each message in a partition. */
function onSqlite(partitions: readonly number[]): Indexed {
  const rows = (partition: number) => `${partitionTable(partition)}_docsize i`
  const base = (partition: number) => toDoc(partition, 0)
  const has = (doc: string) =>
    partitions.map(
      (partition) =>
        `WHEN ${partition} THEN EXISTS (SELECT 1 FROM ${rows(partition)} WHERE i.id = ${base(partition)} - ${doc})`,
    )
  return {
    has: (doc) => (partitions.length > 0 ? `CASE ${doc} / ${PARTITION} ${has(doc).join(' ')} ELSE 0 END` : '0'),
    docs: partitions.map((partition) => ({ doc: `${base(partition)} - i.id`, from: `FROM ${rows(partition)}` })),
  }
}

/**
 * The invariants of the search index. They are repaired by noting the messages: then the service indexes them again.
 *
 * @param partitions those of the index of SQLite
 */
export function searchInvariants(dialect: Dialect, partitions: readonly number[]): Invariant[] {
  const indexed = dialect === 'sqlite' ? onSqlite(partitions) : ON_POSTGRES
  const isNoted = (doc: string) => `EXISTS (SELECT 1 FROM search_changes c WHERE c.doc = ${doc})`
  const wrong = messagesWhere(
    `${IS_KEPT} AND m.doc IS NOT NULL AND (m.deleted_at IS NULL) <> ${indexed.has('m.doc')} AND NOT ${isNoted('m.doc')}`,
  )
  const ghosts = (columns: (doc: string) => string) =>
    indexed.docs
      .map(
        ({ doc, from }) =>
          `SELECT ${columns(doc)} ${from} WHERE ${IS_KEPT}
             AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.doc = ${doc}) AND NOT ${isNoted(doc)}`,
      )
      .join(' UNION ALL ')
  const covers: Invariant = {
    name: 'search-covers-live',
    says: 'The messages in the search index are those that are not deleted, but for those noted as changed.',
    ...wrong,
    repair: `INSERT INTO search_changes (doc, message_id, version) SELECT m.doc, m.id, 1 FROM messages m WHERE ${wrong.where}`,
  }
  if (indexed.docs.length === 0) return [covers]
  return [
    covers,
    {
      name: 'search-no-ghost',
      says: 'The search index has no message that does not exist.',
      find: ghosts((doc) => `${doc} AS id`),
      repair: `INSERT INTO search_changes (doc, message_id, version) ${ghosts((doc) => `${doc}, '', 1`)}`,
    },
  ]
}
