import { reactionList } from '../../chat/messages/store-reactions.ts'
import type { Dialect } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

const ORPHANS = sql`NOT EXISTS (SELECT 1 FROM users u WHERE u.id = reactions.user_id)
  OR NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = reactions.message_id)`

/** The stored list, without escapes. */
const PLAIN_LIST = sql`(SELECT nullif(json_group_array(json(kind)), '[]') FROM (
    SELECT json_object('emoji', each.value ->> 'emoji', 'count', each.value ->> 'count',
                       'user_ids', json(each.value -> 'user_ids')) AS kind
      FROM json_each(messages.reaction_list) AS each
     ORDER BY each.key) AS kinds)`

/** The invariants of reactions and pins. The list of a message is repaired from the rows of its reactions. */
export function reactionInvariants(dialect: Dialect): Invariant[] {
  const list = reactionList(dialect)
  // An equal list may have escapes instead of characters; written by another kind of database, it has other spaces.
  const differs =
    dialect === 'sqlite'
      ? sql`coalesce(${PLAIN_LIST}, '') <> coalesce(${list}, '')`
      : sql`reaction_list::jsonb IS DISTINCT FROM ${list}::jsonb`
  return [
    {
      name: 'reactions-of-live-rows',
      says: 'A reaction belongs to an existing message and an existing user.',
      find: sql`SELECT message_id AS id FROM reactions WHERE ${ORPHANS}`,
      repair: sql`DELETE FROM reactions WHERE ${ORPHANS}`,
    },
    {
      name: 'reactions-listed',
      says: 'The list of reactions of a message is that of their rows.',
      find: sql`SELECT id FROM messages
              WHERE (reaction_list IS NOT NULL OR id IN (SELECT message_id FROM reactions)) AND ${differs}`,
      repair: sql`UPDATE messages SET reaction_list = ${list}
                WHERE reaction_list IS NOT NULL OR id IN (SELECT message_id FROM reactions)`,
    },
    {
      name: 'pins-at-most-100',
      says: 'A conversation has at most 100 pinned messages that are not deleted.',
      remedy: 'Harmless: the list of pins has further pages. Unpin some of them.',
      find: sql`SELECT conversation_id AS id FROM messages WHERE pinned_at IS NOT NULL AND deleted_at IS NULL
              GROUP BY conversation_id HAVING count(*) > 100`,
    },
  ]
}
