import { MAX_QUOTE_LENGTH } from '../../core/excerpt.ts'
import type { Queries } from '../../storage/database.ts'
import { among, authorKind, isErasedAuthor, literal, sql } from '../../storage/sql.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import type { QuotedRow } from './rules.ts'
import type { MessageRow } from './store.ts'

/** The characters of a quoted message that an assistant gets. */
const MAX_TEXT_LENGTH = 4096

/** The text of a quoted message, and its author unless that is the assistant, or erased. */
export interface QuotedText {
  id: string
  content: string
  posted_by: string | null
}

/** The texts of these messages of a conversation that are not deleted, of an answer with its question. By primary key. */
export function listQuotedTexts(db: Queries, conversationId: string, ids: Iterable<string>): Promise<QuotedText[]> {
  return db.all<QuotedText>(
    sql`SELECT m.id, CASE WHEN m.role <> 'assistant' AND NOT EXISTS (SELECT 1 FROM erased_authors gone
                WHERE gone.user_id = m.posted_by) THEN m.posted_by END AS posted_by,
            substr(CASE WHEN m.prompt IS NULL THEN m.content WHEN m.content = '' THEN m.prompt
                ELSE m.prompt || ${literal('\n\n')} || m.content END, 1, ${literal(MAX_TEXT_LENGTH)}) AS content
       FROM messages m
      WHERE m.id ${among(db, ids)} AND m.conversation_id = ${conversationId} AND m.deleted_at IS NULL
          AND NOT ${isErasedAuthor(sql`m.posted_by`)}`,
  )
}

/** The authors of messages who participate in their conversations, by message. By primary keys. */
export async function findAuthors(db: Queries, ids: Iterable<string>): Promise<Map<string, ParticipantSettings>> {
  const rows = await db.all<ParticipantSettings & { id: string }>(
    sql`SELECT m.id, p.user_id, p.level, p.muted_until, p.archived
       FROM messages m JOIN participants p ON p.conversation_id = m.conversation_id AND p.user_id = m.posted_by
      WHERE m.id ${among(db, ids)}`,
  )
  return new Map(rows.map(({ id, ...author }) => [id, author]))
}

/** The authors of the message that a message replies to, unless that is a root, and of the one that it quotes. By primary keys. */
export async function listRepliedTo(
  db: Queries,
  { conversation_id, parent_id, quote_id }: Pick<MessageRow, 'conversation_id' | 'parent_id' | 'quote_id'>,
): Promise<Set<string>> {
  const ids = [parent_id, quote_id].filter((id) => id !== null)
  if (ids.length === 0) return new Set()
  const rows = await db.all<{ posted_by: string }>(
    sql`SELECT posted_by FROM messages
      WHERE id ${among(db, ids)} AND conversation_id = ${conversation_id} AND posted_by IS NOT NULL
        AND (parent_id IS NOT NULL OR id = ${quote_id})`,
  )
  return new Set(rows.map(({ posted_by }) => posted_by))
}

/** Whether readers get the text of a message `m`; `gone` is the erasure of its author. */
const IS_LIVE = sql`m.deleted_at IS NULL AND coalesce(gone.messages, 'keep') = 'keep'`

/** These messages, in no order, with the beginnings of their texts. By primary key. */
export function listQuoted(db: Queries, ids: Iterable<string>): Promise<QuotedRow[]> {
  return db.all<QuotedRow>(
    sql`SELECT m.id, m.conversation_id, m.root_id, m.role,
            CASE WHEN m.role <> 'assistant' AND gone.user_id IS NULL THEN m.posted_by END AS author, ${authorKind(sql`m.posted_by`)} AS author_kind,
            CASE WHEN ${IS_LIVE} THEN substr(coalesce(m.prompt, m.content), 1, ${literal(MAX_QUOTE_LENGTH)}) ELSE ''
                END AS begin,
            CASE WHEN ${IS_LIVE} THEN m.attachment_list END AS files,
            CASE WHEN ${IS_LIVE} THEN 0 ELSE 1 END AS is_deleted
       FROM messages m LEFT JOIN erased_authors gone ON gone.user_id = m.posted_by
      WHERE m.id ${among(db, ids)}`,
  )
}
