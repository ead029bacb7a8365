import { storeConversation } from '../../chat/conversations/service.ts'
import { requireMember, requireReader } from '../../chat/memberships/access.ts'
import { listMessages, toMessageFor } from '../../chat/messages/store.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, invalid } from '../../core/errors.ts'
import { countWithin } from '../../core/pages.ts'
import { isId } from '../../core/schema.ts'
import { parseInput, useCase } from '../../core/use-case.ts'
import { prepareOwn } from '../../protocols/chats/asking.ts'
import { readBranch } from '../../protocols/chats/branch.ts'
import { MAX_CHATS } from '../../protocols/chats/rules.ts'
import { type ChatRow, deleteLeastUsed, findChat, insertChat } from '../../protocols/chats/store.ts'
import type { BranchRow } from '../../protocols/chats/store-branch.ts'
import { urlsOf } from '../../protocols/rows/urls.ts'
import type { Queries } from '../../storage/database.ts'
import { getMade } from '../naming.ts'
import { fromOpenAiId, toName, toOpenAiId } from '../responses/rules-ids.ts'
import type { ConversationItem, ItemList } from '../responses/schema.ts'
import { servedFields } from '../rules-question.ts'
import { toConversation, toItems } from './rules.ts'
import { type ConversationObject, ConversationObjectInput, ItemsQuery } from './schema.ts'

/**
 * Names a thread that has no message yet: in the conversation of this service that `metadata.conversation_id` names, else in a
 * new one of the actor alone.
 *
 * @throws ChatError `not_found`, `forbidden`
 */
export const createConversation = useCase({
  takes: ['actor'],
  input: ConversationObjectInput,
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, { metadata = {} }): Promise<ConversationObject> => {
    const { conversation_id: given, ...own } = metadata
    if (given !== undefined && !(typeof given === 'string' && isId(given)))
      throw invalid('metadata.conversation_id', 'must be the id of a conversation')
    const founded = given === undefined ? prepareOwn(ctx, actor) : undefined
    const row: ChatRow = {
      user_id: actor.user_id,
      name: toName(toOpenAiId('conversation', ctx.id())),
      conversation_id: given ?? founded!.id,
      root_id: null,
      metadata: Object.keys(own).length > 0 ? JSON.stringify(own) : null,
      created_at: ctx.now(),
    }
    await ctx.write(async (tx) => {
      if (founded) await storeConversation(ctx, tx, actor, founded)
      else await requireMember(ctx, tx, actor, row.conversation_id)
      await insertChat(tx, row)
      await deleteLeastUsed(tx, actor.user_id, MAX_CHATS)
    })
    return toConversation(row)
  },
})

/** A conversation of OpenAI that the actor has made. @throws ChatError `not_found` */
export const getConversation = useCase({
  takes: ['actor', 'named_id'],
  errors: ['not_found'],
  run: async (ctx, actor, name): Promise<ConversationObject> => {
    await getMade(ctx, ctx.db, actor, name)
    const row = await findChat(ctx.db, actor.user_id, toName(name))
    if (!row) throw new ChatError('not_found')
    return toConversation(row)
  },
})

/** The messages that are read at a time. */
const AT_ONCE = 20

/**
 * A page of the items of a conversation: of the branch down to its newest answer, newest first by default.
 *
 * @throws ChatError `not_found`, also for an item that is not in the conversation
 */
export const listItems = useCase({
  takes: ['actor', 'named_id'],
  input: ItemsQuery,
  errors: ['not_found'],
  run: (ctx, actor, name, { after, limit, order }): Promise<ItemList> => {
    return ctx.db.snapshot(async (db) => {
      const items: ConversationItem[] = []
      let isFound = after === undefined
      for await (const item of itemsOf(ctx, db, actor, name, { order })) {
        if (isFound) items.push(item)
        isFound ||= item.id === after
        if (items.length > limit) break
      }
      if (!isFound) throw new ChatError('not_found')
      const sizes = items.slice(0, limit).map((item) => Buffer.byteLength(JSON.stringify(item)))
      const data = items.slice(0, Math.max(1, countWithin(sizes)))
      return {
        object: 'list',
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: data.length < items.length,
      }
    })
  },
})

/** One item of a conversation. @throws ChatError `not_found` */
export const getItem = useCase({
  takes: ['actor', 'named_id', 'item_id'],
  errors: ['not_found'],
  run: (ctx, actor, name, itemId): Promise<ConversationItem> => {
    return ctx.db.snapshot(async (db) => {
      for await (const item of itemsOf(ctx, db, actor, name, { order: 'desc', only: messageOf(itemId) }))
        if (item.id === itemId) return item
      throw new ChatError('not_found')
    })
  },
})

/** The message of an item that is named by it; `undefined` for a call, which has an id of its own. */
const messageOf = (itemId: string) => (fromOpenAiId('message', itemId) ?? fromOpenAiId('reasoning', itemId))?.id

/** The items of a branch, or of one message of it, whose messages are read as they are needed. @throws ChatError `not_found` */
async function* itemsOf(
  ctx: Context,
  db: Queries,
  actor: Actor,
  name: string,
  { order, only }: { order: 'asc' | 'desc'; only?: string | undefined },
): AsyncGenerator<ConversationItem> {
  const chat = await getMade(ctx, db, actor, name)
  const { role } = await requireReader(ctx, db, actor, chat.conversation_id)
  if (chat.root_id === null) return
  const branch = (await readBranch(db, chat)).filter(({ id }) => only === undefined || id === only)
  const rest: BranchRow[] = order === 'asc' ? branch : branch.toReversed()
  while (rest.length > 0) {
    const ids = rest.splice(0, AT_ONCE).map(({ id }) => id)
    const byId = new Map((await listMessages(db, ids)).map((row) => [row.id, row]))
    for (const id of ids) {
      const row = byId.get(id)
      const items = row ? toItems(toMessageFor(ctx.access, { actor, role }, row), urlsOf(ctx.config)) : []
      yield* order === 'asc' ? items : items.toReversed()
    }
  }
}

/** Makes a conversation over HTTP. @throws ChatError as {@link createConversation} */
export function createOverHttp(ctx: Context, actor: Actor, body: unknown): Promise<ConversationObject> {
  const { items, ...fields } = servedFields(body)
  if (Array.isArray(items) && items.length > 0) throw invalid('items', 'must be empty: what was said is asked as input')
  return createConversation.run(ctx, actor, parseInput(ConversationObjectInput, fields))
}
