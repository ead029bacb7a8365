import { pathsDownTo } from '../../chat/messages/rules.ts'
import { ChatError } from '../../core/errors.ts'
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
