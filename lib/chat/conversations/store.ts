import type { Place } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { ACTIVE_AT, greatest, isOneOf, jsonList, type Micros } from '../../storage/sql.ts'
import type { SettingsColumns } from './rules-settings.ts'
import type { Participant, ParticipantRole, Presence } from './schema.ts'
import type { ConversationRow } from './store-fields.ts'

/** A row of a participant, with the names of the user. */
export interface ParticipantRow {
  user_id: string
  username: string
  display_name: string | null
  role: ParticipantRole
  joined_at: Micros
}

/** A participant as other participants read it. */
export function toParticipant(row: ParticipantRow, presence: Presence): Participant {
  const { user_id, username, display_name, role } = row
  return {
    user_id,
    username,
    ...(display_name && { display_name }),
    role,
    joined_at: toInstant(row.joined_at),
    presence,
  }
}

/** The id of a conversation, or of a message or thread in it. */
export type Where = { conversation_id: string } | { message_id: string } | { root_id: string }

const FROM_WHERE = {
  conversation_id: 'FROM conversations c',
  message_id: 'FROM messages m JOIN conversations c ON c.id = m.conversation_id',
  root_id: 'FROM threads t JOIN conversations c ON c.id = t.conversation_id',
}
const ID_OF = { conversation_id: 'c.id', message_id: 'm.id', root_id: 't.root_id' }

/**
 * Locks a conversation and the user's membership: until the transaction ends, no other transaction changes them. By
 * primary keys.
 *
 * @returns the membership, and the clock of the conversation
 */
export function lockMembershipRow(tx: Queries, where: Where, userId: string) {
  const [by, id] = Object.entries(where)[0] as [keyof typeof ID_OF, string]
  const lock = tx.dialect === 'postgresql' ? 'FOR UPDATE OF c FOR SHARE OF p' : ''
  return tx.get<{
    conversation_id: string
    role: ParticipantRole
    joined_at: Micros
    clock: Micros
    is_direct: number
    policy: string | null
    receipts: number
    unread_mentions: number
  }>(
    `SELECT c.id AS conversation_id, p.role, p.joined_at, c.clock, c.is_direct, c.policy, p.receipts, p.unread_mentions
       ${FROM_WHERE[by]} JOIN participants p ON p.conversation_id = c.id
      WHERE ${ID_OF[by]} = ? AND p.user_id = ? AND c.deleted_at IS NULL ${lock}`,
    id,
    userId,
  )
}

/** Locks a conversation, for a part of the host that is not disabled. @returns its id and its clock */
export function lockPlace(tx: Queries, where: Where, systemId: string) {
  const [by, id] = Object.entries(where)[0] as [keyof typeof ID_OF, string]
  return tx.get<{ conversation_id: string; clock: Micros; is_direct: number }>(
    `SELECT c.id AS conversation_id, c.clock, c.is_direct ${FROM_WHERE[by]} JOIN users u ON u.id = ? AND u.disabled_at IS NULL
      WHERE ${ID_OF[by]} = ? AND c.deleted_at IS NULL
      ${tx.dialect === 'postgresql' ? 'FOR UPDATE OF c FOR KEY SHARE OF u' : ''}`,
    systemId,
    id,
  )
}

/**
 * Locks a conversation, for a caller who is no participant.
 *
 * @param options.unlessLocked returns at once if another transaction has locked the conversation
 * @returns the clock of the conversation; `undefined` if it is deleted, or locked
 */
export async function lockConversation(
  tx: Queries,
  id: string,
  options: { unlessLocked?: boolean } = {},
): Promise<Micros | undefined> {
  const lock = tx.dialect === 'sqlite' ? '' : options.unlessLocked ? 'FOR UPDATE SKIP LOCKED' : 'FOR UPDATE'
  const row = await tx.get<{ clock: Micros }>(
    `SELECT clock FROM conversations WHERE id = ? AND deleted_at IS NULL ${lock}`,
    id,
  )
  return row?.clock
}

/** The role of a user in a conversation, and the time at which the user joined. By primary key. */
export function findMembership(db: Queries, conversationId: string, userId: string) {
  return db.get<{ role: ParticipantRole; joined_at: Micros }>(
    `SELECT p.role, p.joined_at FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ? AND p.user_id = ? AND c.deleted_at IS NULL`,
    conversationId,
    userId,
  )
}

/** The conversations of a user, each with the time at which the user joined. By user_id. */
export function listMemberships(
  db: Queries,
  userId: string,
): Promise<{ conversation_id: string; joined_at: Micros }[]> {
  return db.all(
    `SELECT p.conversation_id, p.joined_at FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = ? AND c.deleted_at IS NULL`,
    userId,
  )
}

/** The conversations of each of these users. */
export function listMembershipsOf(
  db: Queries,
  userIds: Iterable<string>,
): Promise<{ user_id: string; conversation_id: string; joined_at: Micros }[]> {
  return db.all(
    `SELECT p.user_id, p.conversation_id, p.joined_at
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id ${isOneOf(db.dialect)} AND c.deleted_at IS NULL`,
    jsonList(userIds),
  )
}

/** Up to `limit` participants after one, in the order they joined. By (conversation_id, joined_at, user_id). */
export function listParticipants(
  db: Queries,
  conversationId: string,
  after: Place,
  limit: number,
): Promise<ParticipantRow[]> {
  return db.all<ParticipantRow>(
    `SELECT p.user_id, u.username, u.display_name, p.role, p.joined_at
       FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ? AND (p.joined_at, p.user_id) > (?, ?)
      ORDER BY p.joined_at, p.user_id
      LIMIT ?`,
    conversationId,
    after.at,
    after.id,
    limit,
  )
}

/** The participations of these users in these conversations. */
export function listParticipations(db: Queries, userIds: Iterable<string>, conversationIds: Iterable<string>) {
  return db.all<{ conversation_id: string; user_id: string }>(
    `SELECT p.conversation_id, p.user_id FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id ${isOneOf(db.dialect)} AND p.conversation_id ${isOneOf(db.dialect)}
        AND c.deleted_at IS NULL`,
    jsonList(userIds),
    jsonList(conversationIds),
  )
}

/** The number of participants, and of owners among them. */
export async function countParticipants(db: Queries, conversationId: string): Promise<{ all: number; owners: number }> {
  const row = await db.get<{ all: number; owners: number }>(
    `SELECT count(*) AS "all", coalesce(sum(CASE WHEN role = 'owner' THEN 1 ELSE 0 END), 0) AS owners
       FROM participants WHERE conversation_id = ?`,
    conversationId,
  )
  return row!
}

/**
 * The participant who becomes owner when the last owner leaves: the one with the highest role, among equals the first
 * that joined. A disabled user only if all others are disabled, too.
 */
export async function findSuccessor(tx: Queries, conversationId: string, ownerId: string): Promise<string> {
  const row = await tx.get<{ user_id: string }>(
    `SELECT p.user_id FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ? AND p.user_id <> ?
      ORDER BY CASE WHEN u.disabled_at IS NULL THEN 0 ELSE 1 END,
               CASE p.role WHEN 'admin' THEN 0 WHEN 'member' THEN 1 ELSE 2 END, p.joined_at, p.user_id
      LIMIT 1`,
    conversationId,
    ownerId,
  )
  return row!.user_id
}

/** The unread mentions of a user in a conversation `c`: of one who was a participant before they are there again. */
const UNREAD_MENTIONS = `(SELECT count(*) FROM notifications n JOIN messages m ON m.id = n.id
  WHERE n.user_id = ? AND n.read_at IS NULL AND n.hidden = 0 AND m.conversation_id = c.id)`

/** @returns false if the user was a participant already */
export async function insertParticipant(
  tx: Queries,
  conversationId: string,
  { user_id, role, joined_at }: Pick<ParticipantRow, 'user_id' | 'role' | 'joined_at'>,
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO participants (conversation_id, user_id, role, joined_at, seen_count, unread_mentions)
     SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), message_count, ${UNREAD_MENTIONS} FROM conversations c WHERE id = ?
     ON CONFLICT DO NOTHING`,
    user_id,
    role,
    joined_at,
    user_id,
    conversationId,
  )
  return inserted === 1
}

export async function deleteParticipant(tx: Queries, conversationId: string, userId: string): Promise<void> {
  await tx.run('DELETE FROM participants WHERE conversation_id = ? AND user_id = ?', conversationId, userId)
}

export async function updateRole(
  tx: Queries,
  conversationId: string,
  userId: string,
  role: ParticipantRole,
): Promise<void> {
  await tx.run(
    'UPDATE participants SET role = ? WHERE conversation_id = ? AND user_id = ?',
    role,
    conversationId,
    userId,
  )
}

/** A row of a conversation, with what one participant has of it. */
export interface ParticipationRow extends ConversationRow, Omit<SettingsColumns, 'receipts'> {
  unread_mentions: number
  role: ParticipantRole
  joined_at: Micros
  participant_count: number
  active_at: Micros
  /** While the messages of an erased user are being removed, with those of them that were not read. */
  unread: number
}

/** Which conversations of a user are listed. */
export interface Listed {
  after: Place
  limit: number
  ref?: string | undefined
  archived: 'false' | 'true' | 'all'
}

const ARCHIVED = { false: 'AND p.archived = 0', true: 'AND p.archived = 1', all: '' }

/** Conversations of a user, latest activity first, after the given one. By user_id; archived ones by an index of their own. */
export function listConversations(
  db: Queries,
  userId: string,
  { after, limit, ref, archived }: Listed,
): Promise<ParticipationRow[]> {
  return db.all<ParticipationRow>(
    `SELECT page.*, (SELECT count(*) FROM participants others WHERE others.conversation_id = page.id) AS participant_count
       FROM (SELECT c.id, c.title, c.is_group, c.ref, c.metadata, c.created_at, c.is_direct, c.pair_key, c.policy, ${ACTIVE_AT} AS active_at,
                    p.role, p.joined_at, p.level, p.muted_until, p.archived, p.unread_mentions,
                    ${greatest(db.dialect)}(c.message_count - p.seen_count, 0) AS unread
               FROM participants p JOIN conversations c ON c.id = p.conversation_id
              WHERE p.user_id = ? ${ARCHIVED[archived]} AND c.deleted_at IS NULL AND (${ACTIVE_AT}, c.id) < (?, ?)
                    ${ref === undefined ? '' : 'AND c.ref = ?'}
              ORDER BY ${ACTIVE_AT} DESC, c.id DESC
              LIMIT ?) AS page
      ORDER BY page.active_at DESC, page.id DESC`,
    userId,
    after.at,
    after.id,
    ...(ref === undefined ? [] : [ref]),
    limit,
  )
}

/** Ends all answers in progress in a conversation; these are few. */
export async function deleteUnderWayIn(tx: Queries, conversationId: string): Promise<void> {
  await tx.run('DELETE FROM answers_under_way WHERE conversation_id = ?', conversationId)
}
