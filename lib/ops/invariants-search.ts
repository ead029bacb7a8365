import type { Dialect } from '../storage/database.ts'
import { type Invariant, messagesWhere } from './invariant.ts'

/** Where the index is kept, and filled, and no task removes messages: what is being removed is hidden from the checks. */
const IS_KEPT = `EXISTS (SELECT 1 FROM meta WHERE name = 'search' AND value <> 'off')
  AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind IN ('search.fill', 'conversation.remove', 'user.erase'))`

/** The invariants of the search index. They are repaired by noting the messages: then the service indexes them anew. */
export function searchInvariants(dialect: Dialect): Invariant[] {
  // Of FTS5: one row for each message in the index.
  const [table, doc] = dialect === 'sqlite' ? ['search_index_docsize', 'id'] : ['search_docs', 'doc']
  const isNoted = (doc: string) => `EXISTS (SELECT 1 FROM search_changes c WHERE c.doc = ${doc})`
  const wrong = messagesWhere(
    `${IS_KEPT} AND m.doc IS NOT NULL AND (m.deleted_at IS NULL) <> EXISTS (SELECT 1 FROM ${table} i WHERE i.${doc} = m.doc)
      AND NOT ${isNoted('m.doc')}`,
  )
  const ghosts = `FROM ${table} i WHERE ${IS_KEPT}
    AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.doc = i.${doc}) AND NOT ${isNoted(`i.${doc}`)}`
  return [
    {
      name: 'search-covers-live',
      says: 'The messages in the search index are those that are not deleted, but for those noted as changed.',
      ...wrong,
      repair: `INSERT INTO search_changes (doc, message_id, version) SELECT m.doc, m.id, 1 FROM messages m WHERE ${wrong.where}`,
    },
    {
      name: 'search-no-ghost',
      says: 'The search index has no message that does not exist.',
      find: `SELECT i.${doc} AS id ${ghosts}`,
      repair: `INSERT INTO search_changes (doc, message_id, version) SELECT i.${doc}, '', 1 ${ghosts}`,
    },
  ]
}
