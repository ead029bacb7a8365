import { requireReader } from '../../chat/memberships/access.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isId } from '../../core/schema.ts'
import type { Queries } from '../../storage/database.ts'
import { isChatName, isServiceName } from './rules.ts'
import { findChat } from './store.ts'
import { listPlaced } from './store-place.ts'

/** A thread as a client names it. */
export interface Chat {
  name: string
  conversation_id: string
  /** `null` before its first question. */
  root_id: string | null
  /** The first of the variants of its root. */
  set_id: string | null
  /** As JSON. */
  metadata: string | null
  /** Whether the user has given it that name: else the name is the id of its root. */
  is_named: boolean
}

/**
 * The chat of a name: the one that the actor has given that name, else the thread with that root, if the actor reads it. `undefined`
 * for a name that means nothing to the actor.
 *
 * @throws ChatError `not_found` for a chat that is deleted with its root, or that the actor reads no more
 */
export async function findChatFor(
  ctx: Pick<Context, 'access'>,
  db: Queries,
  actor: Actor,
  name: string,
): Promise<Chat | undefined> {
  if (!isChatName(name) && !isServiceName(name)) return undefined
  const row = await findChat(db, actor.user_id, name)
  const root_id = row ? row.root_id : isId(name) ? name : null
  const [root] = root_id === null ? [] : await listPlaced(db, [root_id])
  const place = row ?? (root?.parent_id === null ? root : undefined)
  if (!place) return undefined
  try {
    await requireReader(ctx, db, actor, place.conversation_id)
  } catch (error) {
    // A thread of others is unknown, as one that does not exist.
    if (!row && error instanceof ChatError && error.code === 'not_found') return undefined
    throw error
  }
  if (root?.is_gone) throw new ChatError('not_found')
  const { conversation_id } = place
  const metadata = row?.metadata ?? null
  return { name, conversation_id, root_id, set_id: root?.set_id ?? null, metadata, is_named: row !== undefined }
}

/** The chat of a name. @throws ChatError `not_found`, also for a name that means nothing to the actor */
export async function getChatFor(ctx: Pick<Context, 'access'>, db: Queries, actor: Actor, name: string): Promise<Chat> {
  const chat = await findChatFor(ctx, db, actor, name)
  if (!chat) throw new ChatError('not_found')
  return chat
}

/** @throws ChatError `not_found` unless the message is in the chat of that name */
export async function assertInChat(
  ctx: Pick<Context, 'access' | 'db'>,
  actor: Actor,
  name: string,
  messageId: string,
): Promise<void> {
  const chat = await getChatFor(ctx, ctx.db, actor, name)
  const [row] = await listPlaced(ctx.db, [messageId])
  if (!row || row.set_id !== chat.set_id) throw new ChatError('not_found')
}
