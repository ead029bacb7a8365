import type { Place } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { jsonList, listOf, type Micros } from '../../storage/sql.ts'
import type { ConversationFields, Participant, ParticipantRole, Presence } from './schema.ts'

/** A conversation as it is stored. */
export interface ConversationRow {
  id: string
  title: string
  is_group: number
  created_at: Micros
}

/** A participation as it is stored, with the user's names. */
export interface ParticipantRow {
  user_id: string
  username: string
  display_name: string | null
  role: ParticipantRole
  joined_at: Micros
}

/** A row as its participants read it. */
export function toFields(row: ConversationRow): ConversationFields {
  return { id: row.id, title: row.title, is_group: row.is_group === 1, created_at: toInstant(row.created_at) }
}

/** A row as other participants read it. */
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

/** A conversation, by its own id, or by that of a message or a thread in it. */
export type Where = { conversation_id: string } | { message_id: string } | { root_id: string }

const FROM_WHERE = {
  conversation_id: 'FROM conversations c',
  message_id: 'FROM messages m JOIN conversations c ON c.id = m.conversation_id',
  root_id: 'FROM threads t JOIN conversations c ON c.id = t.conversation_id',
}
const ID_OF = { conversation_id: 'c.id', message_id: 'm.id', root_id: 't.root_id' }

/**
 * The user's place in a conversation, and the conversation's clock, for changing it: until the transaction ends nobody
 * else changes the conversation, or this place in it. By primary keys.
 */
export function lockMembershipRow(tx: Queries, where: Where, userId: string) {
  const [by, id] = Object.entries(where)[0] as [keyof typeof ID_OF, string]
  const lock = tx.dialect === 'postgresql' ? 'FOR UPDATE OF c FOR SHARE OF p' : ''
  return tx.get<{ conversation_id: string; role: ParticipantRole; joined_at: Micros; clock: Micros }>(
    `SELECT c.id AS conversation_id, p.role, p.joined_at, c.clock
       ${FROM_WHERE[by]} JOIN participants p ON p.conversation_id = c.id
      WHERE ${ID_OF[by]} = ? AND p.user_id = ? AND c.deleted_at IS NULL ${lock}`,
    id,
    userId,
  )
}

/**
 * The same for somebody who does not take part.
 *
 * @param options.unlessLocked does not wait for who is changing it now
 * @returns its clock; `undefined` when it is gone, or locked
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

/** What the user is in the conversation, and since when. By primary key. */
export function findMembership(db: Queries, conversationId: string, userId: string) {
  return db.get<{ role: ParticipantRole; joined_at: Micros }>(
    `SELECT p.role, p.joined_at FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ? AND p.user_id = ? AND c.deleted_at IS NULL`,
    conversationId,
    userId,
  )
}

export function findConversation(db: Queries, id: string): Promise<ConversationRow | undefined> {
  return db.get<ConversationRow>(
    'SELECT id, title, is_group, created_at FROM conversations WHERE id = ? AND deleted_at IS NULL',
    id,
  )
}

/** Those conversations, in no order. By primary key. */
export function listConversationFields(db: Queries, ids: Iterable<string>): Promise<ConversationRow[]> {
  return db.all<ConversationRow>(
    `SELECT id, title, is_group, created_at FROM conversations WHERE id IN ${listOf(db.dialect)}`,
    jsonList(ids),
  )
}

/** Where a user takes part, and since when. By user_id. */
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

/** Up to `limit` people of the conversation after one, in the order they joined. By (conversation_id, joined_at, user_id). */
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

/** Which of these users take part in which of these conversations. */
export function listParticipations(db: Queries, userIds: Iterable<string>, conversationIds: Iterable<string>) {
  return db.all<{ conversation_id: string; user_id: string }>(
    `SELECT p.conversation_id, p.user_id FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id IN ${listOf(db.dialect)} AND p.conversation_id IN ${listOf(db.dialect)}
        AND c.deleted_at IS NULL`,
    jsonList(userIds),
    jsonList(conversationIds),
  )
}

/** How many take part, and how many of them as owners. */
export async function countParticipants(db: Queries, conversationId: string): Promise<{ all: number; owners: number }> {
  const row = await db.get<{ all: number; owners: number }>(
    `SELECT count(*) AS "all", coalesce(sum(CASE WHEN role = 'owner' THEN 1 ELSE 0 END), 0) AS owners
       FROM participants WHERE conversation_id = ?`,
    conversationId,
  )
  return row!
}

/**
 * Who owns a conversation next when its last owner goes: an admin rather than a member rather than a viewer, and among
 * them who joined first; somebody whose account is disabled only if there is nobody else.
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

export async function insertConversation(tx: Queries, row: ConversationRow): Promise<void> {
  await tx.run(
    'INSERT INTO conversations (id, title, is_group, created_at, clock) VALUES (?, ?, ?, ?, ?)',
    row.id,
    row.title,
    row.is_group,
    row.created_at,
    row.created_at,
  )
}

/** @returns whether the user was not there yet */
export async function insertParticipant(
  tx: Queries,
  conversationId: string,
  { user_id, role, joined_at }: Pick<ParticipantRow, 'user_id' | 'role' | 'joined_at'>,
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO participants (conversation_id, user_id, role, joined_at, seen_count)
     SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), message_count FROM conversations WHERE id = ?
     ON CONFLICT DO NOTHING`,
    user_id,
    role,
    joined_at,
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

export async function updateTitle(tx: Queries, id: string, title: string): Promise<void> {
  await tx.run('UPDATE conversations SET title = ? WHERE id = ?', title, id)
}

/**
 * Takes a conversation out of sight: from then on it is as unknown as one that never existed. What is in it is removed
 * by a task.
 */
export async function hideConversation(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run("UPDATE conversations SET deleted_at = ?, title = '' WHERE id = ?", at, id)
}

/** A conversation with what one participant is in it. */
export interface ParticipationRow extends ConversationRow {
  role: ParticipantRole
  joined_at: Micros
  participant_count: number
  clock: Micros
  /** While the messages of an erased user are being removed, with those of them that were not read. */
  unread: number
}

/** Up to `limit` conversations of a user, latest activity first, after the given one. By user_id. */
export function listConversations(
  db: Queries,
  userId: string,
  after: Place,
  limit: number,
): Promise<ParticipationRow[]> {
  return db.all<ParticipationRow>(
    `SELECT page.*, (SELECT count(*) FROM participants others WHERE others.conversation_id = page.id) AS participant_count
       FROM (SELECT c.id, c.title, c.is_group, c.created_at, c.clock, p.role, p.joined_at,
                    c.message_count - p.seen_count AS unread
               FROM participants p JOIN conversations c ON c.id = p.conversation_id
              WHERE p.user_id = ? AND c.deleted_at IS NULL AND (c.clock < ? OR (c.clock = ? AND c.id < ?))
              ORDER BY c.clock DESC, c.id DESC
              LIMIT ?) AS page
      ORDER BY page.clock DESC, page.id DESC`,
    userId,
    after.at,
    after.at,
    after.id,
    limit,
  )
}

/** Ends the writing of all answers in a conversation: of those under way there are few. */
export async function deleteUnderWayIn(tx: Queries, conversationId: string): Promise<void> {
  await tx.run('DELETE FROM answers_under_way WHERE conversation_id = ?', conversationId)
}
