import { sql } from '../sql.ts'
import type { Migration } from './migrations.ts'

/** The number of participants of a conversation, from their rows. By the primary key of participants. */
export const PARTICIPANT_COUNT = sql`(SELECT count(*) FROM participants p WHERE p.conversation_id = conversations.id)`

/** Recounts the participants of all conversations, and writes only the rows whose count is wrong. */
export const RECOUNT_PARTICIPANTS = sql`UPDATE conversations SET participant_count = ${PARTICIPANT_COUNT}
 WHERE participant_count <> ${PARTICIPANT_COUNT}`

/**
 * A list of conversations has the number of the participants of each without reading their rows. Both databases add the
 * column without writing the rows of the table, which one statement then fills. PostgreSQL locks the table from the first
 * statement on, so that no user joins or leaves between the two.
 */
export const participantCounts: Migration = {
  name: '0029-participant-counts',
  statements: () => [
    'ALTER TABLE conversations ADD COLUMN participant_count BIGINT NOT NULL DEFAULT 0',
    RECOUNT_PARTICIPANTS.text,
  ],
}
