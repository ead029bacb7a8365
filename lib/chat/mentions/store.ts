import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import type { Mentioned } from './rules.ts'

/** Where posts are stored: in a conversation, or below a message of one. */
export interface MentionPlace {
  n: number
  conversation_id: string | null
  parent_id: string | null
}

/** What the texts of posts may mention: the keys of names, as a JSON list. */
export interface NamesWanted extends MentionPlace {
  keys: string
}

/** Persons that are named by id, as a JSON list. */
export interface IdsWanted extends MentionPlace {
  ids: string
}

/** The columns of {@link ParticipantSettings}. */
const PARTICIPANT = sql`p.user_id, p.level, p.muted_until, p.archived`

const PLACE = { n: 'bigint', conversation_id: 'text', parent_id: 'text' } as const

/** The participants of the conversation of each place, from the elements of a JSON list on. */
function participantsBy(dialect: Queries['dialect'], given: Sql, list: Sql, join: Sql): Sql {
  const each =
    dialect === 'sqlite'
      ? sql`CROSS JOIN json_each(given.${list}) one`
      : sql`CROSS JOIN LATERAL json_array_elements_text(given.${list}::json) AS one(value)`
  return sql`FROM ${given} LEFT JOIN messages m ON m.id = given.parent_id ${each} ${join}
          CROSS JOIN participants p
         WHERE p.conversation_id = coalesce(m.conversation_id, given.conversation_id)`
}

const BY_NAME = onRows<NamesWanted>(
  { ...PLACE, keys: 'text' },
  (given, dialect) =>
    sql`SELECT given.n, u.username_key AS key, ${PARTICIPANT}
       ${participantsBy(dialect, given, sql`keys`, sql`CROSS JOIN users u`)} AND u.username_key = one.value
       AND p.user_id = u.id`,
)

const BY_ID = onRows<IdsWanted>(
  { ...PLACE, ids: 'text' },
  (given, dialect) =>
    sql`SELECT given.n, ${PARTICIPANT} ${participantsBy(dialect, given, sql`ids`, sql``)} AND p.user_id = one.value`,
)

/** The participants with these usernames, by key. By the keys of users, so the number of participants does not matter. */
export function listNamed(
  db: Queries,
  names: NamesWanted[],
): Promise<(ParticipantSettings & { n: number; key: string })[]> {
  return BY_NAME.all(db, names)
}

/** The participants among these users. By primary key. */
export function listParticipating(db: Queries, ids: IdsWanted[]): Promise<(ParticipantSettings & { n: number })[]> {
  return BY_ID.all(db, ids)
}

const COUNTS = onRows<MentionPlace>(
  PLACE,
  (given) =>
    sql`SELECT given.n, coalesce((SELECT c.participant_count FROM conversations c
                                WHERE c.id = coalesce(m.conversation_id, given.conversation_id)), 0) AS participants
       FROM ${given} LEFT JOIN messages m ON m.id = given.parent_id`,
)

/** The number of participants of each conversation. */
export function listParticipantCounts(
  db: Queries,
  places: MentionPlace[],
): Promise<{ n: number; participants: number }[]> {
  return COUNTS.all(db, places)
}

/** All participants of these conversations. By primary key. */
export function listAllParticipants(
  db: Queries,
  conversationIds: Iterable<string>,
): Promise<(ParticipantSettings & { conversation_id: string })[]> {
  return db.all(
    sql`SELECT p.conversation_id, ${PARTICIPANT} FROM participants p
          WHERE p.conversation_id ${among(db, conversationIds)}`,
  )
}

/** A participant of a conversation; `undefined` for another user. By primary key. */
export function findParticipant(
  db: Queries,
  conversationId: string,
  userId: string,
): Promise<ParticipantSettings | undefined> {
  return db.get(
    sql`SELECT ${PARTICIPANT} FROM participants p WHERE p.conversation_id = ${conversationId}
          AND p.user_id = ${userId}`,
  )
}

/** The columns of a message with its mentions. */
export interface MentionColumns {
  mention_all: number | null
  mentioned: string | null
  mention_origins: string | null
}

/** The columns of a message with its mentions; they are empty when it has none. */
export function toColumns({ user_ids, all, origins }: Mentioned): MentionColumns {
  const mention_origins = origins && JSON.stringify(origins)
  if (all) return { mention_all: 1, mentioned: user_ids.join() || null, mention_origins }
  if (user_ids.length > 0) return { mention_all: 0, mentioned: user_ids.join(), mention_origins }
  return { mention_all: null, mentioned: null, mention_origins }
}

/** Replaces the mentions of a message that was edited at an instant. */
export async function replaceMentions(
  tx: Queries,
  messageId: string,
  { origins, ...mentioned }: Mentioned,
  edited_at: Micros,
): Promise<void> {
  await setMentions(tx, messageId, toColumns({ ...mentioned, origins: origins && { ...origins, edited_at } }))
}

/** Stores the mentions of a message. */
export async function setMentions(tx: Queries, messageId: string, columns: MentionColumns): Promise<void> {
  await tx.run(
    sql`UPDATE messages SET mention_all = ${columns.mention_all}, mentioned = ${columns.mentioned},
            mention_origins = ${columns.mention_origins}
          WHERE id = ${messageId}`,
  )
}

/** What the mentions of a message come from, as JSON. By primary key. */
export async function findOrigins(tx: Queries, messageId: string): Promise<string | null> {
  const row = await tx.get<{ mention_origins: string | null }>(
    sql`SELECT mention_origins FROM messages WHERE id = ${messageId}`,
  )
  return row?.mention_origins ?? null
}

/** A message that mentions a user, and its conversation. */
export interface MentioningMessage {
  message_id: string
  conversation_id: string
}

/**
 * Up to `limit` messages that mention a user, of the next `searched` messages with mentions from one on, in the order of
 * ids. No index has the persons.
 *
 * @returns with `last`, the last of the searched ones; `undefined` if there are no more
 */
export async function listMentioning(
  db: Queries,
  userId: string,
  from: string,
  { limit, searched }: { limit: number; searched: number },
): Promise<{ messages: MentioningMessage[]; last: string | undefined }> {
  const position = db.dialect === 'sqlite' ? sql`instr` : sql`strpos`
  const rows = await db.all<MentioningMessage & { place: number }>(
    sql`SELECT id AS message_id, conversation_id, ${position}(mentioned, ${userId}) AS place FROM messages
      WHERE mentioned IS NOT NULL AND id >= ${from} ORDER BY id LIMIT ${searched}`,
  )
  const messages = rows.flatMap(({ message_id, conversation_id, place }) =>
    place > 0 ? { message_id, conversation_id } : [],
  )
  return {
    messages: messages.slice(0, limit),
    last: rows.length === searched ? rows.at(-1)!.message_id : undefined,
  }
}

/** Removes a user from the mentions of these messages. @returns the ids of those that are not deleted */
export async function forgetMentioned(tx: Queries, userId: string, messageIds: string[]): Promise<string[]> {
  const rows = await tx.all<{ id: string; deleted_at: number | null }>(
    sql`UPDATE messages
        SET mentioned = nullif(trim(replace(',' || mentioned || ',', CAST(${`,${userId},`} AS TEXT), ','), ','), ''),
            mention_origins = replace(mention_origins, CAST(${userId} AS TEXT), '')
      WHERE id ${among(tx, messageIds)} RETURNING id, deleted_at`,
  )
  return rows.flatMap(({ id, deleted_at }) => (deleted_at === null ? id : []))
}
