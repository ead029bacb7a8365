import type { OtherKind } from '../../accounts/users/schema.ts'
import { MAX_EXCERPT_LENGTH, toRootSummary } from '../../core/excerpt.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, authorKind, isErasedAuthor, literal, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { LastMessage } from './schema.ts'

/** So many messages are passed over that were deleted last, of the roots and of the replies each. */
const MAX_PASSED = 1_000

/** The newest message with this condition on its parent that is not deleted. By the indexes by arrival. */
const newest = (parent: Sql) => sql`(SELECT m.id FROM
    (SELECT id, created_at, deleted_at, posted_by FROM messages
      WHERE conversation_id = c.id AND ${parent} ORDER BY created_at DESC LIMIT ${literal(MAX_PASSED)}) AS m
    WHERE m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)} ORDER BY m.created_at DESC LIMIT 1)`

interface LastRow {
  conversation_id: string
  id: string
  author: string | null
  author_kind: OtherKind | null
  role: LastMessage['role']
  excerpt: string
  files: string | null
  at: Micros
}

/** The newest message of each of these conversations that is not deleted. */
export async function listLastMessages(db: Queries, conversationIds: string[]): Promise<Map<string, LastMessage>> {
  const rows = await db.all<LastRow>(
    sql`WITH newest AS (
       SELECT c.id AS conversation_id, ${newest(sql`parent_id IS NULL`)} AS root, ${newest(sql`parent_id IS NOT NULL`)} AS reply
         FROM conversations c WHERE c.id ${among(db, conversationIds)})
     SELECT m.conversation_id, m.id, m.role, m.attachment_list AS files, m.created_at AS at,
            CASE WHEN m.role <> 'assistant' AND gone.user_id IS NULL THEN m.posted_by END AS author,
            ${authorKind(sql`m.posted_by`)} AS author_kind,
            substr(coalesce(nullif(m.content, ''), m.prompt, ''), 1, ${literal(MAX_EXCERPT_LENGTH)}) AS excerpt
       FROM (SELECT root AS id FROM newest UNION ALL SELECT reply FROM newest) AS latest
       JOIN messages m ON m.id = latest.id
       LEFT JOIN erased_authors gone ON gone.user_id = m.posted_by
      ORDER BY m.created_at`,
  )
  return new Map(rows.map((row) => [row.conversation_id, toLastMessage(row)]))
}

function toLastMessage({ id, author, author_kind, role, excerpt, files, at }: LastRow): LastMessage {
  const { root_excerpt } = toRootSummary(excerpt, files)
  const by = author && { author_user_id: author, ...(author_kind && { author_kind }) }
  return { id, ...by, role, excerpt: root_excerpt, at: toInstant(at) }
}
