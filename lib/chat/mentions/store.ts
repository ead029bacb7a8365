import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { isOneOf, jsonList } from '../../storage/sql.ts'
import type { Mentioned } from './rules.ts'

/** Where a post is stored: in a conversation, or below a message of one. */
export interface MentionPlace {
  n: number
  conversation_id: string | null
  parent_id: string | null
}

/** What a text may mention: the keys of names, as a JSON list. */
export interface NamesWanted extends MentionPlace {
  keys: string
}

/** Persons that are named by id, as a JSON list. */
export interface IdsWanted extends MentionPlace {
  ids: string
}

const PLACE = { n: 'bigint', conversation_id: 'text', parent_id: 'text' } as const

/** The participants of the conversation of each post, from the elements of a JSON list on. */
function participantsBy(dialect: Queries['dialect'], given: string, list: string, join: string): string {
  const each =
    dialect === 'sqlite'
      ? `CROSS JOIN json_each(given.${list}) one`
      : `CROSS JOIN LATERAL json_array_elements_text(given.${list}::json) AS one(value)`
  return `FROM ${given} LEFT JOIN messages m ON m.id = given.parent_id ${each} ${join}
          CROSS JOIN participants p
         WHERE p.conversation_id = coalesce(m.conversation_id, given.conversation_id)`
}

const BY_NAME = onRows<NamesWanted>(
  { ...PLACE, keys: 'text' },
  (given, dialect) =>
    `SELECT given.n, u.username_key AS key, p.user_id
       ${participantsBy(dialect, given, 'keys', 'CROSS JOIN users u')} AND u.username_key = one.value AND p.user_id = u.id`,
)

const BY_ID = onRows<IdsWanted>(
  { ...PLACE, ids: 'text' },
  (given, dialect) =>
    `SELECT given.n, p.user_id ${participantsBy(dialect, given, 'ids', '')} AND p.user_id = one.value`,
)

/** The participants with these usernames, by key. By the keys of users, so the number of participants does not matter. */
export function listNamed(db: Queries, wanted: NamesWanted[]): Promise<{ n: number; key: string; user_id: string }[]> {
  return BY_NAME.all(db, wanted)
}

/** Those of these users who are participants. By primary key. */
export function listParticipating(db: Queries, wanted: IdsWanted[]): Promise<{ n: number; user_id: string }[]> {
  return BY_ID.all(db, wanted)
}

const COUNTS = onRows<MentionPlace>(
  PLACE,
  (given) =>
    `SELECT given.n, (SELECT count(*) FROM participants p
                       WHERE p.conversation_id = coalesce(m.conversation_id, given.conversation_id)) AS participants
       FROM ${given} LEFT JOIN messages m ON m.id = given.parent_id`,
)

/** The number of participants of each conversation. */
export function listParticipantCounts(
  db: Queries,
  places: MentionPlace[],
): Promise<{ n: number; participants: number }[]> {
  return COUNTS.all(db, places)
}

/** The columns of a message with its mentions; both are empty when it has none. */
export function toColumns({ user_ids, all }: Mentioned): { mention_all: number | null; mentioned: string | null } {
  if (all) return { mention_all: 1, mentioned: user_ids.join() || null }
  return user_ids.length > 0 ? { mention_all: 0, mentioned: user_ids.join() } : { mention_all: null, mentioned: null }
}

/** A person that a message mentions. */
export interface MentionRow {
  message_id: string
  user_id: string
}

const INSERT = onRows<MentionRow>(
  { message_id: 'text', user_id: 'text' },
  (given) => `INSERT INTO mentions (message_id, user_id) SELECT message_id, user_id FROM ${given}`,
)

/** Replaces the mentions of a message. */
export async function replaceMentions(
  tx: Queries,
  messageId: string,
  { mention_all }: { mention_all: number | null },
  userIds: readonly string[],
): Promise<void> {
  await tx.run('DELETE FROM mentions WHERE message_id = ?', messageId)
  await tx.run('UPDATE messages SET mention_all = ? WHERE id = ?', mention_all, messageId)
  await insertMentions(
    tx,
    userIds.map((user_id) => ({ message_id: messageId, user_id })),
  )
}

export function insertMentions(tx: Queries, rows: MentionRow[]): Promise<void> {
  return INSERT.run(tx, rows)
}

/** Up to `limit` messages that mention a user, with their conversations. By (user_id). */
export function listMentioning(
  db: Queries,
  userId: string,
  limit: number,
): Promise<{ message_id: string; conversation_id: string }[]> {
  return db.all(
    `SELECT m.id AS message_id, m.conversation_id
       FROM (SELECT message_id FROM mentions WHERE user_id = ? LIMIT ?) AS e JOIN messages m ON m.id = e.message_id`,
    userId,
    limit,
  )
}

/** Deletes the mentions of a user in these messages. @returns the ids of those that are not deleted */
export async function deleteMentionsOf(tx: Queries, userId: string, messageIds: string[]): Promise<string[]> {
  const these = isOneOf(tx.dialect)
  await tx.run(`DELETE FROM mentions WHERE user_id = ? AND message_id ${these}`, userId, jsonList(messageIds))
  const live = await tx.all<{ id: string }>(
    `SELECT id FROM messages WHERE id ${these} AND deleted_at IS NULL`,
    jsonList(messageIds),
  )
  return live.map(({ id }) => id)
}
