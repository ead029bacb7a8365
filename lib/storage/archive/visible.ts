import type { Dialect } from '../database.ts'
import { join, name, type Sql, sql } from '../sql.ts'

/** How the rows of a table belong to a conversation, by column; threads and conversations come last. */
const BELONGS: Record<string, 'conversation_id' | 'root_id' | 'message_id' | 'call_id' | 'id' | 'either'> = {
  participants: 'conversation_id',
  former_participants: 'conversation_id',
  invites: 'conversation_id',
  events: 'conversation_id',
  answers_under_way: 'conversation_id',
  notifications: 'either',
  thread_members: 'root_id',
  chats: 'conversation_id',
  reactions: 'message_id',
  answer_feedback: 'message_id',
  message_revisions: 'message_id',
  message_chunks: 'message_id',
  answer_runs: 'message_id',
  tool_calls: 'conversation_id',
  approval_votes: 'call_id',
  idempotency_keys: 'message_id',
  messages: 'conversation_id',
  threads: 'conversation_id',
  conversations: 'id',
}

/** A condition for the rows `one` of a table that belong to no deleted conversation; `undefined` if none could. */
export function visibleRows(table: string, dialect: Dialect): Sql | undefined {
  // By the schema's name: a WITH may redefine the name of the table.
  const main = dialect === 'sqlite' ? sql`main.` : sql``
  const isHidden = (
    messageId: Sql,
  ) => sql`EXISTS (SELECT 1 FROM ${main}messages m JOIN ${main}conversations c ON c.id = m.conversation_id
      WHERE m.id = ${messageId} AND c.deleted_at IS NOT NULL)`
  const hidden = {
    id: sql`(one.deleted_at IS NOT NULL)`,
    conversation_id: sql`EXISTS (SELECT 1 FROM ${main}conversations c
      WHERE c.id = one.conversation_id AND c.deleted_at IS NOT NULL)`,
    root_id: sql`EXISTS (SELECT 1 FROM ${main}threads t JOIN ${main}conversations c ON c.id = t.conversation_id
      WHERE t.root_id = one.root_id AND c.deleted_at IS NOT NULL)`,
    message_id: isHidden(sql`one.message_id`),
    call_id: isHidden(sql`(SELECT called.message_id FROM ${main}tool_calls called WHERE called.id = one.call_id)`),
  }
  // The id of most notifications is that of their message; the others have a conversation.
  const either = sql`(${hidden.conversation_id} OR ${isHidden(sql`one.id`)})`
  const by = BELONGS[table]
  return by && sql`NOT ${by === 'either' ? either : hidden[by]}`
}

/** The WITH clause that hides data of deleted conversations in every table. */
export function withVisible(dialect: Dialect): Sql {
  // In this order a condition on PostgreSQL still refers to the whole tables: it sees only the definitions before it.
  const main = dialect === 'sqlite' ? sql`main.` : sql``
  const views = Object.keys(BELONGS).map(
    (table) =>
      sql`${name(table)} AS NOT MATERIALIZED (SELECT * FROM ${main}${name(table)} AS one WHERE ${visibleRows(table, dialect)!})`,
  )
  return sql`WITH ${join(views, ', ')} `
}
