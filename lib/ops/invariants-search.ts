import type { Dialect } from '../storage/database.ts'
import type { Invariant } from './invariants.ts'

/** Where the index is kept, and filled, and no task removes messages: what is being removed is hidden from the checks. */
const IS_KEPT = `EXISTS (SELECT 1 FROM meta WHERE name = 'search' AND value <> 'off')
  AND NOT EXISTS (SELECT 1 FROM tasks WHERE kind IN ('search.fill', 'conversation.remove', 'user.erase'))`

/** The invariants of the search index. They are repaired by noting the messages: then the service indexes them anew. */
export function searchInvariants(dialect: Dialect): Invariant[] {
  // Of FTS5: one row for each message in the index.
  const [table, doc] = dialect === 'sqlite' ? ['search_index_docsize', 'id'] : ['search_docs', 'doc']
  const missing = `FROM messages m WHERE ${IS_KEPT} AND m.deleted_at IS NULL AND m.doc IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM ${table} i WHERE i.${doc} = m.doc)
    AND NOT EXISTS (SELECT 1 FROM search_changes c WHERE c.doc = m.doc)`
  const ghosts = `FROM ${table} i WHERE ${IS_KEPT}
    AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.doc = i.${doc} AND m.deleted_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM search_changes c WHERE c.doc = i.${doc})`
  return [
    {
      name: 'search-covers-live',
      says: 'A message that is not deleted is in the search index, or noted as changed.',
      find: `SELECT m.id ${missing}`,
      repair: `INSERT INTO search_changes (doc, message_id, version) SELECT m.doc, m.id, 1 ${missing}`,
    },
    {
      name: 'search-no-ghost',
      says: 'The search index has no message that is deleted.',
      find: `SELECT i.${doc} AS id ${ghosts}`,
      repair: `INSERT INTO search_changes (doc, message_id, version) SELECT i.${doc}, '', 1 ${ghosts}`,
    },
  ]
}
