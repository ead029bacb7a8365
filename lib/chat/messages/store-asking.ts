import type { Queries } from '../../storage/database.ts'
import { among, sql } from '../../storage/sql.ts'
import { childPath, pathsDownTo } from './rules.ts'
import type { MessageRow } from './store.ts'

/** The assistant of an answer; `null` for one of an older program, and for one that no assistant was chosen for. */
export interface AnsweredBy {
  id: string
  assistant: string | null
  role: string
  prompt_is_null: number
}

/** Who writes these messages. By primary key. */
export function listAssistants(db: Queries, ids: Iterable<string>): Promise<AnsweredBy[]> {
  return db.all<AnsweredBy>(
    sql`SELECT id, assistant, role, CASE WHEN prompt IS NULL THEN 1 ELSE 0 END AS prompt_is_null
       FROM messages WHERE id ${among(db, ids)}`,
  )
}

/**
 * The nearest answer on the path down to a message that is to be answered, if its conversation asks by itself or it is
 * asked in any; `undefined` if there is none. By primary key, and by (root_id, path).
 *
 * @param isAsked whether the reply is a question in every layout
 */
export async function findAnswerAbove(
  db: Queries,
  parentId: string,
  isAsked: boolean,
): Promise<{ assistant: string | null } | undefined> {
  const parent = await db.get<{ root_id: string; path: string }>(
    sql`SELECT m.root_id, m.path FROM messages m JOIN conversations c ON c.id = m.conversation_id
      WHERE m.id = ${parentId} AND (c.layout = 'assistant' OR ${isAsked ? 1 : 0} = 1)`,
  )
  if (!parent) return undefined
  return db.get<{ assistant: string | null }>(
    sql`SELECT assistant FROM messages
      WHERE root_id = ${parent.root_id} AND path ${among(db, pathsDownTo(parent.path))} AND role = 'assistant'
      ORDER BY depth DESC LIMIT 1`,
  )
}

/** The paths of the answers that were stored with a question: the first replies to it. */
export function pathsOfAnswers({ path, asked }: Pick<MessageRow, 'path' | 'asked'>): string[] {
  return (asked?.split(',') ?? []).map((_, ordinal) => childPath(path, ordinal))
}

/** The answers under way to a message whose text is the question. By the answers under way in its conversation, which are few. */
export async function listAnswering(tx: Queries, { id, conversation_id }: Pick<MessageRow, 'id' | 'conversation_id'>) {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT a.message_id AS id FROM answers_under_way a JOIN messages m ON m.id = a.message_id
      WHERE a.conversation_id = ${conversation_id} AND m.parent_id = ${id} AND m.role = 'assistant'
        AND m.prompt IS NULL
      UNION SELECT m.id FROM tool_calls c JOIN messages m ON m.id = c.message_id
      WHERE c.conversation_id = ${conversation_id} AND c.approval = 'waiting' AND m.parent_id = ${id}
        AND m.prompt IS NULL`,
  )
  return rows.map((row) => row.id)
}
