import type { Photos } from '../../accounts/users/photos.ts'
import type { UserKind } from '../../accounts/users/rules.ts'
import type { Queries } from '../../storage/database.ts'
import { among, isOtherDisabled, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { DirectPartner } from '../conversations/schema.ts'
import type { ConversationRow } from './store-conversations.ts'

/** The direct conversation of two people. By pair_key. */
export async function findPair(db: Queries, pairKey: string): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(
    sql`SELECT id FROM conversations WHERE pair_key = ${pairKey} AND deleted_at IS NULL`,
  )
  return row?.id
}

/** Whether a conversation is direct. By primary key. */
export async function isDirect(db: Queries, conversationId: string): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM conversations WHERE id = ${conversationId} AND is_direct = 1`))
}

/** Whether the other person of a direct conversation is disabled or erased. By primary keys. */
export async function isClosed(db: Queries, conversationId: string, userId: string): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM conversations c
      WHERE c.id = ${conversationId} AND (c.pair_key IS NULL OR ${isOtherDisabled(sql`${userId}`)})`,
  )
  return row !== undefined
}

/** Up to so many participations of a user are counted. */
const MAX_COUNTED = 10_000

/**
 * The ones of these users who participate in a private conversation of another user. One that any user may join, or joins
 * by itself, does not count. Each costs the conversations of the one of both who has fewer, by user_id, and for each of these
 * a look-up of the other one by primary key: users may have thousands, and bots more.
 */
export async function listSharing(db: Queries, userId: string, ids: Iterable<string>): Promise<string[]> {
  const user = sql`${userId}`
  const { count } = (await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM (SELECT 1 FROM participants WHERE user_id = ${user} LIMIT ${MAX_COUNTED}) AS own`,
  ))!
  const theirs = sql`SELECT 1 FROM participants WHERE user_id = u.id LIMIT ${count + 1}`
  const rows = await db.all<{ id: string }>(
    sql`SELECT u.id FROM users u
      WHERE u.id ${among(db, ids)} AND CASE WHEN (SELECT count(*) FROM (${theirs}) AS theirs) > ${count}
            THEN ${isIn(user, sql`u.id`)} ELSE ${isIn(sql`u.id`, user)} END`,
  )
  return rows.map(({ id }) => id)
}

/** Whether a private conversation of one user has the other: a single value is looked up for each, in no other order. */
const isIn = (one: Sql, other: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM participants one WHERE one.user_id = ${one} AND (
        SELECT 1 FROM participants other JOIN conversations c ON c.id = other.conversation_id
         WHERE other.conversation_id = one.conversation_id AND other.user_id = ${other}
           AND c.deleted_at IS NULL AND c.visibility IS NULL AND c.auto_join IS NULL) = 1)`

/** Removes the pair of a direct conversation, since one of the two is erased. It stays direct. */
export async function forgetPair(tx: Queries, conversationId: string): Promise<void> {
  await tx.run(sql`UPDATE conversations SET pair_key = NULL WHERE id = ${conversationId} AND pair_key IS NOT NULL`)
}

/**
 * Removes the pairs of up to `limit` direct conversations that an erased system actor has opened. By system_id.
 *
 * @returns their number
 */
export function forgetPairs(tx: Queries, systemId: string, limit: number): Promise<number> {
  return tx.run(
    sql`UPDATE conversations SET pair_key = NULL WHERE id IN (
       SELECT id FROM conversations WHERE system_id = ${systemId} AND pair_key IS NOT NULL ORDER BY id LIMIT ${limit})`,
  )
}

interface NamedRow {
  conversation_id: string
  user_id: string
  username: string
  display_name: string | null
  avatar_url: string | null
  kind: UserKind | 'system'
  disabled_at: Micros | null
}

/** The other person of a direct conversation, as the user sees it. */
export interface Partner {
  shown: DirectPartner
  isDisabled: boolean
}

/** The other person of each direct conversation of a user among these, or the system actor that has opened it. */
export async function listPartners(
  db: Queries,
  userId: string,
  conversations: Pick<ConversationRow, 'id' | 'is_direct' | 'pair_key'>[],
  photos: Photos,
): Promise<Map<string, Partner>> {
  const direct = conversations.filter((conversation) => conversation.is_direct === 1)
  if (direct.length === 0) return new Map()
  const ids = direct.map(({ id }) => id)
  const rows = await db.all<NamedRow>(
    sql`SELECT p.conversation_id, u.id AS user_id, u.username, u.display_name, u.avatar_url, u.kind, u.disabled_at
       FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id ${among(db, ids)}
      UNION ALL
     SELECT c.id, u.id, u.username, u.display_name, u.avatar_url, 'system', u.disabled_at
       FROM conversations c JOIN users u ON u.id = c.system_id
      WHERE c.id ${among(db, ids)}`,
  )
  return new Map(
    direct.flatMap((conversation) => {
      const partner = partnerIn(
        rows.filter((row) => row.conversation_id === conversation.id),
        { userId, photos },
        conversation,
      )
      return partner ? [[conversation.id, partner] as const] : []
    }),
  )
}

/** The other one of a direct conversation: in one's own, the user; `undefined` once the other one is erased. */
function partnerIn(
  people: Omit<NamedRow, 'conversation_id'>[],
  { userId, photos }: { userId: string; photos: Photos },
  { is_direct, pair_key }: Pick<ConversationRow, 'is_direct' | 'pair_key'>,
): Partner | undefined {
  if (is_direct === 0 || pair_key === null) return undefined
  const row = people.find((participant) => participant.user_id !== userId) ?? people[0]
  if (!row) return undefined
  const { user_id, username, display_name, avatar_url, kind, disabled_at } = row
  const named = { user_id, username, ...(display_name && { display_name }), ...photos(avatar_url) }
  const shown = { ...named, ...(kind !== 'person' && { kind }) }
  return { shown, isDisabled: disabled_at !== null }
}
