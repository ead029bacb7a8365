import { isErasedAuthor, type Sql, sql } from './sql.ts'

/** Whether a program has streamed a message, or does: of the others only answers of the assistant have an end. */
const isStreamed = (message: Sql) =>
  sql`${message}.role <> 'assistant' AND (${message}.status = 'streaming' OR ${message}.finish_reason IS NOT NULL)`

/** The id of the person who is answered by a reply to this message: its author, if that is a person. */
export const authorOf = (parentId: Sql): Sql =>
  sql`(SELECT asker.id FROM messages parent JOIN users asker ON asker.id = parent.posted_by
         WHERE parent.id = ${parentId} AND parent.role <> 'system' AND asker.kind <> 'bot'
           AND NOT ${isErasedAuthor(sql`parent.posted_by`)})`

/** The id of the person who is answered by a message, if a program streams it: who has called the command, or wrote the parent. */
export const answeredPerson = (message: Sql): Sql =>
  sql`CASE WHEN ${isStreamed(message)}
       THEN coalesce(${message}.invoked_by, ${authorOf(sql`${message}.parent_id`)}) END`
