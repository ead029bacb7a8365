import type { Photos } from '../../accounts/users/photos.ts'
import type { UserKind } from '../../accounts/users/rules.ts'
import type { Place } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import { READ_FLOORS } from '../../storage/unread-set.ts'
import type { Participant, ParticipantRole, Presence } from '../conversations/schema.ts'

/** A row of a participant, with the names and the photo of the user. */
export interface ParticipantRow {
  user_id: string
  username: string
  display_name: string | null
  avatar_url: string | null
  kind: UserKind
  role: ParticipantRole
  joined_at: Micros
}

/** A participant as other participants read it. */
export function toParticipant(row: ParticipantRow, presence: Presence, photos: Photos): Participant {
  const { user_id, username, display_name, avatar_url, kind, role } = row
  return {
    user_id,
    username,
    ...(display_name && { display_name }),
    ...photos(avatar_url),
    ...(kind !== 'person' && { kind }),
    role,
    joined_at: toInstant(row.joined_at),
    presence,
  }
}

/** How far a participant has read a conversation. Messages from before `joined_at` never count as unread. */
export interface ReadFloors {
  joined_at: Micros
  /** Up to this arrival all replies are read, and all roots, unless they were marked unread later. */
  replies_read_to: Micros
  roots_read_to: Micros
  /** When the last marks were set that ended all exceptions. */
  replies_read_at: Micros
  roots_read_at: Micros
}

/** The role of a user in a conversation, and how far the user has read it. By primary key. */
export function findMembership(db: Queries, conversationId: string, userId: string) {
  return db.get<ReadFloors & { role: ParticipantRole; policy: string | null; frozen_at: Micros | null }>(
    sql`SELECT p.role, c.policy, c.frozen_at, ${READ_FLOORS}
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id = ${userId} AND c.deleted_at IS NULL`,
  )
}

/** The conversations of a user, each with the time at which the user joined. By user_id. */
export function listMemberships(
  db: Queries,
  userId: string,
): Promise<{ conversation_id: string; joined_at: Micros }[]> {
  return db.all(
    sql`SELECT p.conversation_id, p.joined_at FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = ${userId} AND c.deleted_at IS NULL`,
  )
}

/** The conversations of each of these users. */
export function listMembershipsOfUsers(
  db: Queries,
  userIds: Iterable<string>,
): Promise<{ user_id: string; conversation_id: string; joined_at: Micros }[]> {
  return db.all(
    sql`SELECT p.user_id, p.conversation_id, p.joined_at
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id ${among(db, userIds)} AND c.deleted_at IS NULL`,
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
    sql`SELECT p.user_id, u.username, u.display_name, u.avatar_url, u.kind, p.role, p.joined_at
       FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ${conversationId} AND (p.joined_at, p.user_id) > (${after.at}, ${after.id})
      ORDER BY p.joined_at, p.user_id
      LIMIT ${limit}`,
  )
}

/** The participants among these users, in no order. By primary key. */
export function listParticipantsAmong(
  db: Queries,
  conversationId: string,
  userIds: Iterable<string>,
): Promise<ParticipantRow[]> {
  return db.all<ParticipantRow>(
    sql`SELECT p.user_id, u.username, u.display_name, u.avatar_url, u.kind, p.role, p.joined_at
       FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id ${among(db, userIds)}`,
  )
}

/** The participations of these users in these conversations, each with the time at which the user joined. */
export function listParticipations(db: Queries, userIds: Iterable<string>, conversationIds: Iterable<string>) {
  return db.all<{ conversation_id: string; user_id: string; joined_at: Micros }>(
    sql`SELECT p.conversation_id, p.user_id, p.joined_at FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id ${among(db, userIds)} AND p.conversation_id ${among(db, conversationIds)}
        AND c.deleted_at IS NULL`,
  )
}

/** Up to `limit` participants of these conversations. By primary key. */
export function listSomeParticipants(db: Queries, conversationIds: Iterable<string>, limit: number) {
  return db.all<{ conversation_id: string; user_id: string }>(
    sql`SELECT p.conversation_id, p.user_id FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id ${among(db, conversationIds)} AND c.deleted_at IS NULL LIMIT ${limit}`,
  )
}

/** The number of participants, and of owners among them. */
export async function countParticipants(db: Queries, conversationId: string): Promise<{ all: number; owners: number }> {
  const row = await db.get<{ all: number; owners: number }>(
    sql`SELECT count(*) AS "all", coalesce(sum(CASE WHEN role = 'owner' THEN 1 ELSE 0 END), 0) AS owners
       FROM participants WHERE conversation_id = ${conversationId}`,
  )
  return row!
}

/**
 * The participant who becomes owner when the last owner leaves: the one with the highest role, among equals the first
 * that joined. A disabled user only if all others are disabled, too.
 *
 * @returns `undefined` if all others are bots
 */
export async function findSuccessor(tx: Queries, conversationId: string, ownerId: string): Promise<string | undefined> {
  const row = await tx.get<{ user_id: string }>(
    sql`SELECT p.user_id FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id <> ${ownerId} AND u.kind <> 'bot'
      ORDER BY CASE WHEN u.disabled_at IS NULL THEN 0 ELSE 1 END,
               CASE p.role WHEN 'admin' THEN 0 WHEN 'member' THEN 1 ELSE 2 END, p.joined_at, p.user_id
      LIMIT 1`,
  )
  return row?.user_id
}

/** The unread mentions of a user in a conversation `c`: those of a former participation count again, but none of a thread. */
const unreadMentions = (userId: string) => sql`(SELECT count(*) FROM notifications n JOIN messages m ON m.id = n.id
  WHERE n.user_id = ${userId} AND n.read_at IS NULL AND n.hidden = 0 AND m.conversation_id = c.id)`

/** The level of a new participant: a bot has no inbox, so nothing notifies it. By the index of users who are no persons. */
const levelAtFirst = (userId: string) =>
  sql`(SELECT 'none' FROM users bot WHERE bot.id = ${userId} AND bot.kind = 'bot' AND bot.kind <> 'person')`

/**
 * Adds a participant to a conversation, which counts them.
 *
 * @returns false if the user was a participant already
 */
export async function insertParticipant(
  tx: Queries,
  conversationId: string,
  { user_id, role, joined_at }: Pick<ParticipantRow, 'user_id' | 'role' | 'joined_at'>,
): Promise<boolean> {
  const inserted = await tx.run(
    sql`INSERT INTO participants (conversation_id, user_id, role, joined_at, seen_count, seen_roots, seen_replies,
                               followed_unread, followed_threads, unread_mentions, level)
     SELECT id, CAST(${user_id} AS TEXT), CAST(${role} AS TEXT), CAST(${joined_at} AS BIGINT), message_count,
            root_count, message_count - root_count, 0, 0, ${unreadMentions(user_id)}, ${levelAtFirst(user_id)}
       FROM conversations c WHERE id = ${conversationId}
     ON CONFLICT DO NOTHING`,
  )
  await addToCount(tx, conversationId, inserted)
  if (inserted === 1) await readFormer(tx, conversationId, user_id, joined_at)
  return inserted === 1
}

/** Reads the notifications that stand for what was unread in a former participation: nothing is after joining. */
async function readFormer(tx: Queries, conversationId: string, userId: string, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE notifications SET read_at = ${at}
      WHERE user_id = ${userId} AND conversation_id = ${conversationId} AND scope_id IS NOT NULL AND read_at IS NULL`,
  )
}

async function addToCount(tx: Queries, conversationId: string, change: number): Promise<void> {
  if (change === 0) return
  await tx.run(
    sql`UPDATE conversations SET participant_count = participant_count + ${change} WHERE id = ${conversationId}`,
  )
}

/** The users with unread notifications of a conversation. By its participants, and its notifications about no message. */
export async function listUnreadIn(db: Queries, conversationId: string): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    sql`SELECT user_id FROM participants WHERE conversation_id = ${conversationId} AND unread_mentions > 0
      UNION
     SELECT user_id FROM notifications WHERE conversation_id = ${conversationId} AND kind = 'added'
         AND read_at IS NULL`,
  )
  return rows.map(({ user_id }) => user_id)
}

/** Removes a participant from a conversation, and counts the participants left. */
export async function deleteParticipant(tx: Queries, conversationId: string, userId: string): Promise<void> {
  const deleted = await tx.run(
    sql`DELETE FROM participants WHERE conversation_id = ${conversationId} AND user_id = ${userId}`,
  )
  await addToCount(tx, conversationId, -deleted)
}

export async function updateRole(
  tx: Queries,
  conversationId: string,
  userId: string,
  role: ParticipantRole,
): Promise<void> {
  await tx.run(
    sql`UPDATE participants SET role = ${role} WHERE conversation_id = ${conversationId} AND user_id = ${userId}`,
  )
}
