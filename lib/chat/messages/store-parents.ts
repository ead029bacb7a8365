import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { replyCount, STORED_REPLIERS } from '../../storage/reply-state.ts'
import { isErasedAuthor, type Micros, sql } from '../../storage/sql.ts'
import { FOLLOWED_SINCE, WANTS_NO_FOLLOWING } from '../../storage/unread-set.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import type { Target } from './store-posts.ts'

/** The parent of a reply, and the number of messages that the user has in its thread. */
export interface Parent extends Omit<ParticipantSettings, 'user_id'> {
  n: number
  root_id: string
  path: string
  depth: number
  reply_count: number
  deleted_at: Micros | null
  /** Its author; for an answer, the user who asked. */
  posted_by: string | null
  live_count: number
  /** The replies of its thread that are not deleted, without those that are being erased. */
  thread_replies: number
  /** Who replied last in its thread, as it is stored; `null` if it must be computed. */
  last_repliers: string | null
  /** 1 if the user, a participant, does not follow the thread before a reply. */
  starts_following: number
  /** 1 if the user does not want to follow the thread: a mention does not change that. */
  refuses_following: number
  /** The author, if they participate and are another user. */
  replied_to: string | null
}

/** Most replies are to the root, of which the row is there. */
const ROOT_DELETED_AT = sql`CASE WHEN m.id = m.root_id THEN m.deleted_at
       ELSE (SELECT root.deleted_at FROM messages root WHERE root.id = m.root_id) END`

/** PostgreSQL looks up by both columns of a key if they are compared with those of one table; else by the first alone. */
const PARENTS = onRows<Pick<Target, 'n' | 'parent_id' | 'user_id'>>(
  { n: 'bigint', parent_id: 'text', user_id: 'text' },
  (given, dialect) =>
    sql`WITH parents AS ${dialect === 'sqlite' ? sql`` : sql`MATERIALIZED`} (
       SELECT given.n, given.user_id, m.id, m.conversation_id, m.conversation_id AS member_of, m.root_id, m.path, m.depth,
              m.reply_count, m.posted_by, m.created_at, m.deleted_at
         FROM ${given} JOIN messages m ON m.id = given.parent_id)
     SELECT m.n, m.root_id, m.path, m.depth, m.reply_count, m.posted_by, coalesce(r.live_count, 0) AS live_count,
            CASE WHEN p.user_id IS NOT NULL AND ${FOLLOWED_SINCE} IS NULL THEN 1 ELSE 0 END AS starts_following,
            CASE WHEN ${WANTS_NO_FOLLOWING} THEN 1 ELSE 0 END AS refuses_following,
            ${replyCount(ROOT_DELETED_AT)} AS thread_replies, ${STORED_REPLIERS} AS last_repliers,
            author.user_id AS replied_to, author.level, author.muted_until, author.archived,
            CASE WHEN ${isErasedAuthor(sql`m.posted_by`)} THEN m.created_at ELSE m.deleted_at END AS deleted_at
       FROM parents m
       JOIN threads t ON t.root_id = m.root_id
       LEFT JOIN thread_members r ON r.root_id = m.root_id AND r.user_id = m.user_id
       LEFT JOIN participants p ON p.conversation_id = m.member_of AND p.user_id = m.user_id
       LEFT JOIN participants author ON author.conversation_id = m.conversation_id AND author.user_id = m.posted_by
                                    AND m.posted_by <> m.user_id`,
)

/** The parents of replies. By primary keys. */
export function listParents(tx: Queries, targets: Target[]): Promise<Parent[]> {
  return PARENTS.all(
    tx,
    targets.filter((target) => target.parent_id !== null),
  )
}
