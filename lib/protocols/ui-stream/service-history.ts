import { requireReader } from '../../chat/memberships/access.ts'
import { listSummaries } from '../../chat/threads/store.ts'
import { ChatError } from '../../core/errors.ts'
import { fromCursor, toCursor } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { pageOf, readBranch, readMessages } from '../chats/branch.ts'
import { getChatFor } from '../chats/finding.ts'
import { type BranchRow, listVariants } from '../chats/store-branch.ts'
import { listChats } from '../chats/store-list.ts'
import { urlsOf } from '../rows/urls.ts'
import { toUiMessages } from './rules-messages.ts'
import { type UiChatHistory, type UiChats, UiChatsQuery, UiHistoryQuery } from './schema-messages.ts'

/**
 * The messages of a chat as the AI SDK has them: the branch down to a message, or to the newest answer, without deleted ones and
 * the answer that is written now.
 *
 * @throws ChatError `not_found`, also for a message that is not in the chat
 */
export const get = useCase({
  takes: ['actor', 'chat_id'],
  input: UiHistoryQuery,
  errors: ['not_found'],
  run: (ctx, actor, name, { leaf, before, limit }): Promise<UiChatHistory> => {
    return ctx.db.snapshot(async (db) => {
      const chat = await getChatFor(ctx, db, actor, name)
      const { conversation_id, root_id } = chat
      const { role } = await requireReader(ctx, db, actor, conversation_id)
      if (root_id === null) return { id: name, conversation_id, messages: [] }
      const branch = await readBranch(db, chat, leaf)
      const running = branch.findLast(({ status, role: by }) => by === 'assistant' && status === 'streaming')
      const { page, next_before } = pageOf(branch, { before, limit })
      const read = await readMessages(ctx, db, { actor, role }, page)
      const variants = await variantsOf(db, page)
      const shown = { urlOf: urlsOf(ctx.config), variants, running_id: running?.id }
      const messages = read.flatMap((message) => toUiMessages(message, shown))
      return {
        id: name,
        root_id,
        conversation_id,
        messages,
        ...(running && { activeStreamId: running.id }),
        ...(next_before !== undefined && { next_before }),
      }
    })
  },
})

async function variantsOf(db: Queries, page: readonly BranchRow[]): Promise<Map<string, string[]>> {
  const answers = page.flatMap(({ id, role }) => (role === 'assistant' ? id : []))
  const variants = new Map<string, string[]>()
  for (const { id, of_id } of answers.length > 0 ? await listVariants(db, answers) : [])
    variants.set(of_id, [...(variants.get(of_id) ?? []), id])
  for (const [id, all] of variants) if (all.length === 1) variants.delete(id)
  return variants
}

/** A page of the chats that the actor has named, latest activity first. */
export const list = useCase({
  takes: ['actor'],
  input: UiChatsQuery,
  errors: ['invalid_cursor'],
  run: (ctx, actor, { after, limit }): Promise<UiChats> => {
    const place = after === undefined ? undefined : fromCursor(after)
    if (after !== undefined && !place) throw new ChatError('invalid_cursor')
    return ctx.db.snapshot(async (db) => {
      const isSystem = actor.system !== undefined
      const rows = await listChats(db, actor.user_id, { after: place, limit: limit + 1, isSystem })
      const page = rows.slice(0, limit)
      const roots = page.map(({ root_id }) => root_id)
      const summaries = new Map(
        (roots.length > 0 ? await listSummaries(db, roots) : []).map((row) => [row.root_id, row]),
      )
      const chats = page.map(
        ({ name, root_id, conversation_id, last_activity_at, conversation_title, is_only_thread }) => {
          const thread = summaries.get(root_id)
          const title = thread?.title || (is_only_thread && conversation_title) || thread?.root_excerpt || ''
          return { id: name, root_id, conversation_id, title, last_activity_at: toInstant(last_activity_at) }
        },
      )
      const last = page.at(-1)
      const next = rows.length > limit && last ? toCursor({ at: last.last_activity_at, id: last.root_id }) : undefined
      return { chats, ...(next !== undefined && { next_after: next }) }
    })
  },
})
