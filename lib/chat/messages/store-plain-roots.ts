import type { SessionToConfirm } from '../../accounts/sessions/store.ts'
import { type AppendAfter, appendAfter } from '../../live/log/appending.ts'
import { columnsOf, type OnRows } from '../../storage/on-rows.ts'
import { listOf, type Sql, sql } from '../../storage/sql.ts'
import { POSTING_ROLES } from './rules-plain.ts'
import type { Contribution, NEW_MESSAGE, NewMessage, NewThread, Seen } from './store-posts.ts'

/** A root with the session that is to be confirmed; without one, the author is certain. */
export interface PlainRoot extends NewMessage, Partial<Omit<SessionToConfirm, 'user_id'>> {
  title: string | null
}

const MORE_COLUMNS = {
  title: 'text',
  session_id: 'text',
  token_hash: 'text',
  roles: 'text',
  limits_version: 'text',
  now: 'bigint',
} as const

/** Whether the policy of a conversation says nothing of roots. Only a key is such a text: no value is called so. */
const hasNoPolicy = (policy: Sql) => sql`coalesce(strpos(${policy}, '"post"'), 0) = 0`

/** The parts that are those of every post. */
interface Parts {
  columns: typeof NEW_MESSAGE
  /** Whether the conversation `c` is not deleted. */
  isLeft: Sql
  /** Whether the session of the row `writers` is as it was. */
  isConfirmed: Sql
  threads: Pick<OnRows<NewThread>, 'on'>
  messages: Pick<OnRows<NewMessage>, 'on'>
  contributions: Pick<OnRows<Contribution>, 'on'>
  seen: Pick<OnRows<Seen>, 'on'>
}

/**
 * Makes the statement that stores plain roots, as JSON, with their events, in the conversations where all of them may be stored.
 *
 * `writers` have the place and the session of each author once. `allowed` are the conversations in which all of them may post,
 * and which no other transaction has locked: only there a root is stored, numbered and counted.
 */
export function appendPlainRoots(parts: Parts): AppendAfter {
  return appendAfter(sql`posts AS MATERIALIZED (
    SELECT * FROM json_to_recordset(${null}) AS given(${columnsOf({ ...parts.columns, ...MORE_COLUMNS })})),
  writers AS MATERIALIZED (
    SELECT conversation_id, conversation_id AS member_of, posted_by AS user_id, min(created_at) AS at, token_hash,
           session_id, roles, limits_version, min(now) AS now
      FROM posts GROUP BY conversation_id, posted_by, token_hash, session_id, roles, limits_version),
  locked AS MATERIALIZED (
    SELECT writers.conversation_id
      FROM writers
      JOIN conversations c ON c.id = writers.conversation_id
      JOIN participants p ON p.conversation_id = writers.member_of AND p.user_id = writers.user_id
     WHERE ${parts.isLeft} AND c.clock < writers.at AND c.is_direct = 0 AND coalesce(c.layout, '') <> 'assistant'
       AND c.frozen_at IS NULL AND ${hasNoPolicy(sql`c.policy`)}
       AND p.archived = 0 AND p.role IN ${listOf(POSTING_ROLES)}
       AND (writers.token_hash IS NULL OR ${parts.isConfirmed})
     ORDER BY c.id FOR UPDATE OF c SKIP LOCKED FOR SHARE OF p),
  allowed AS MATERIALIZED (
    SELECT conversation_id FROM writers GROUP BY conversation_id
    HAVING count(*) = (SELECT count(*) FROM locked WHERE locked.conversation_id = writers.conversation_id)),
  stored AS MATERIALIZED (
    SELECT posts.* FROM posts JOIN allowed ON allowed.conversation_id = posts.conversation_id),
  threads_changed AS (${parts.threads.on(
    sql`(SELECT id AS root_id, conversation_id, created_at AS at, title FROM stored) AS given`,
  )}),
  messages_changed AS (${parts.messages.on(sql`stored AS given`)}),
  members_changed AS (${parts.contributions.on(
    sql`(SELECT id AS root_id, posted_by AS user_id, 1 AS added, NULL::bigint AS followed_at FROM stored) AS given`,
  )}),
  seen_changed AS (${parts.seen.on(
    sql`(SELECT conversation_id, posted_by AS user_id, count(*) AS added, count(*) AS roots FROM stored
          GROUP BY conversation_id, posted_by) AS given`,
  )})`)
}
