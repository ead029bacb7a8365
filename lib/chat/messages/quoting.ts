import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { NewPost, PostContext } from './batch.ts'
import type { PostPart } from './post-parts.ts'
import type { QuotedRow } from './rules.ts'
import { listQuoted } from './store-quotes.ts'

/** Gives posts the messages that they quote; `undefined` without any. */
export function createQuoting(_: PostContext, posts: readonly NewPost[]): PostPart | undefined {
  const ids = new Set(posts.flatMap(({ input }) => input.quote_id ?? []))
  if (ids.size === 0) return undefined
  let rows: QuotedRow[] = []
  return {
    /** The conversation is locked: no message of it is deleted in the meantime. */
    async load(tx) {
      rows = await listQuoted(tx, ids)
    },

    /** @throws ChatError as {@link assertQuotable} */
    decide({ input: { quote_id } }, { target: { conversation_id } }) {
      if (quote_id === undefined) return undefined
      const quoted = rows.find(({ id }) => id === quote_id)
      return { quote_id, quoted: assertQuotable(quoted, conversation_id) }
    },

    add() {},
    store() {},
  }
}

/** @throws ChatError `not_found` for a message of another conversation; `message_deleted` */
function assertQuotable(quoted: QuotedRow | undefined, conversationId: string): QuotedRow {
  if (quoted?.conversation_id !== conversationId) throw new ChatError('not_found')
  if (quoted.is_deleted) throw new ChatError('message_deleted')
  return quoted
}

/** Refuses a post that quotes a message that it cannot quote. @throws ChatError as {@link assertQuotable} */
export async function checkQuote(db: Queries, quoteId: string, conversationId: string): Promise<void> {
  assertQuotable((await listQuoted(db, [quoteId]))[0], conversationId)
}
