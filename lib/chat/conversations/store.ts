import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { ACTIVE_AT, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { countedUnread } from '../../storage/unread-counts.ts'
import { IS_COUNTED } from '../../storage/unread-set.ts'
import type { SettingsColumns } from '../memberships/rules-settings.ts'
import type { CountedRow } from '../memberships/store-conversations.ts'
import type { CountedUnread } from '../unread/store.ts'
import type { ParticipantRole, Section } from './schema.ts'

/** A row of a conversation, with what one participant has of it. */
export interface ParticipationRow extends CountedRow, CountedUnread, Omit<SettingsColumns, 'receipts'> {
  unread_mentions: number
  role: ParticipantRole
  joined_at: Micros
  active_at: Micros
}

/** Which conversations of a user are listed. */
export interface Listed {
  after: Place
  limit: number
  ref?: string | undefined
  archived: 'false' | 'true' | 'all'
  section?: Section | undefined
  /** `true`: only those with unread messages or mentions; beside those that have only messages which are being removed. */
  unread?: 'true' | undefined
}

const ARCHIVED = { false: sql`AND p.archived = 0`, true: sql`AND p.archived = 1`, all: sql`` }

/** A favourite is in no other section. */
const SECTIONS: Record<Section, Sql> = {
  favourites: sql`AND p.favourite = 1`,
  direct: sql`AND p.favourite = 0 AND c.is_direct = 1`,
  assistant: sql`AND p.favourite = 0 AND c.is_direct = 0 AND c.layout = 'assistant'`,
  rooms: sql`AND p.favourite = 0 AND c.is_direct = 0 AND coalesce(c.layout, 'topics') <> 'assistant'`,
}

/** In a stream, replies of threads that the user does not follow count nowhere. Without counts for that, all do. */
const HAS_UNREAD = sql`AND (p.unread_mentions > 0 OR c.message_count > p.seen_count
  AND CASE WHEN ${IS_COUNTED} AND (c.is_direct = 1 OR c.layout = 'stream')
      THEN c.is_direct = 1 OR c.root_count > p.seen_roots OR p.followed_unread > 0 ELSE true END)`

/** Conversations of a user, latest activity first, after the given one. By user_id; archived ones by an index of their own. */
export function listConversations(
  db: Queries,
  userId: string,
  { after, limit, ref, archived, section, unread }: Listed,
): Promise<ParticipationRow[]> {
  return db.all<ParticipationRow>(
    sql`SELECT c.id, c.title, c.is_group, c.ref, c.metadata, c.created_at, c.is_direct, c.pair_key, c.policy,
            c.layout, c.topic, c.icon, c.frozen_at, c.visibility, c.auto_join, c.assistant,
            ${ACTIVE_AT} AS active_at,
            c.participant_count, p.role, p.joined_at, p.level, p.muted_until, p.archived, p.favourite, p.unread_mentions,
            ${countedUnread(db)}
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = ${userId} ${ARCHIVED[archived]} AND c.deleted_at IS NULL
            AND (${ACTIVE_AT}, c.id) < (${after.at}, ${after.id})
            ${ref === undefined ? sql`` : sql`AND c.ref = ${ref}`}
            ${section ? SECTIONS[section] : sql``} ${unread ? HAS_UNREAD : sql``}
      ORDER BY ${ACTIVE_AT} DESC, c.id DESC
      LIMIT ${limit}`,
  )
}

/** Ends all answers in progress in a conversation; these are few. */
export async function deleteUnderWayIn(tx: Queries, conversationId: string): Promise<void> {
  await tx.run(sql`DELETE FROM answers_under_way WHERE conversation_id = ${conversationId}`)
}
