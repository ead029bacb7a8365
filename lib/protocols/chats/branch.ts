import { pathsDownTo } from '../../chat/messages/rules.ts'
import type { Message } from '../../chat/messages/schema.ts'
import { listMessages, toMessageFor } from '../../chat/messages/store.ts'
import type { Context } from '../../context.ts'
import type { ActorInConversation } from '../../core/access.ts'
import { ChatError } from '../../core/errors.ts'
import { countWithin } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import type { Chat } from './finding.ts'
import { toMessageId } from './rules.ts'
import { type BranchRow, findPath, listBranch } from './store-branch.ts'
import { findNewestAnswer, listPlaced } from './store-place.ts'

/** The messages down to one of the chat, or to its newest answer, without those that are deleted. @throws ChatError `not_found` */
export async function readBranch(db: Queries, chat: Chat, leaf?: string): Promise<BranchRow[]> {
  const id = leaf === undefined ? undefined : toMessageId(leaf)
  const [named] = id === undefined ? [] : await listPlaced(db, [id])
  if (leaf !== undefined && (named?.set_id !== chat.set_id || named.is_gone)) throw new ChatError('not_found')
  const newest = named ?? (await findNewestAnswer(db, chat.root_id!))
  const { root_id, path } = (await findPath(db, newest?.id ?? chat.root_id!))!
  return (await listBranch(db, root_id, pathsDownTo(path))).filter(({ is_gone }) => !is_gone)
}

/** The last messages of a branch before one, as many as fit. @throws ChatError `not_found` for one that is not in the branch */
export function pageOf(
  branch: BranchRow[],
  { before, limit }: { before?: string | undefined; limit: number },
): { page: BranchRow[]; next_before: string | undefined } {
  const end = before === undefined ? branch.length : branch.findIndex(({ id }) => id === before)
  if (end < 0) throw new ChatError('not_found')
  const latest = branch.slice(0, end).reverse().slice(0, limit)
  const page = latest.slice(0, countWithin(latest.map(({ size }) => size))).reverse()
  return { page, next_before: page.length < end ? page[0]?.id : undefined }
}

/** The messages of a page as their reader gets them, in their order, without those that are deleted meanwhile. */
export async function readMessages(
  { access }: Pick<Context, 'access'>,
  db: Queries,
  reader: ActorInConversation,
  page: readonly BranchRow[],
): Promise<Message[]> {
  const ids = page.map(({ id }) => id)
  const rows = ids.length > 0 ? await listMessages(db, ids) : []
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => {
    const row = byId.get(id)
    return row ? toMessageFor(access, reader, row) : []
  })
}
