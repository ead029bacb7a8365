import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/**
 * What the words of a user were made of: the names, marked when the user is disabled; nothing for a system actor. Names
 * have no line breaks.
 */
export const INDEXED_NAMES = sql`CASE WHEN system_name IS NOT NULL THEN '' ELSE
  (CASE WHEN disabled_at IS NULL THEN '' ELSE '\n' END) || username || '\n' || coalesce(display_name, '') END`

/** Whether a user's words are not those of the names: a program that knows no words has changed them. */
export const IS_UNINDEXED = sql`(words_of IS NULL OR words_of <> ${INDEXED_NAMES})`

/** Users who wrote or read in a thread and take no part any more. */
const FORMER = sql`FROM thread_members m JOIN threads t ON t.root_id = m.root_id JOIN users u ON u.id = m.user_id
  WHERE u.system_name IS NULL
    AND NOT EXISTS (SELECT 1 FROM participants p WHERE p.conversation_id = t.conversation_id AND p.user_id = m.user_id)
    AND NOT EXISTS (SELECT 1 FROM former_participants f
                     WHERE f.user_id = m.user_id AND f.conversation_id = t.conversation_id)`

/** The threads with such users that are not known as former participants. */
export const FIND_FORMER = sql`SELECT m.root_id AS id ${FORMER}`

/** Adds such users: of an archive, and those that a program has removed which knows no former participants. */
export const FILL_FORMER = sql`INSERT INTO former_participants (user_id, conversation_id)
  SELECT DISTINCT m.user_id, t.conversation_id ${FORMER}`

/** People are found by the words of their names. A service makes the words of older users after its start. */
export const names: Migration = {
  name: '0052-names',
  statements: ({ key, lean }) => [
    // A word, the beginning of one, or those of two. `name`: the key of the username, by which people are listed.
    `CREATE TABLE user_words (
      word ${key} NOT NULL,
      name ${key} NOT NULL,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      PRIMARY KEY (word, name, user_id))${lean}`,
    'CREATE INDEX words_of_user ON user_words (user_id)',
    'ALTER TABLE users ADD COLUMN words_of TEXT',
    `CREATE INDEX users_without_words ON users (id) WHERE ${IS_UNINDEXED.text}`,
    // Users who were participants: what they wrote stays, and has an author. A task finds older ones by their messages.
    `CREATE TABLE former_participants (
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      conversation_id ${key} NOT NULL REFERENCES conversations ON DELETE CASCADE,
      PRIMARY KEY (user_id, conversation_id))${lean}`,
    'CREATE INDEX former_participants_in ON former_participants (conversation_id)',
  ],
}
