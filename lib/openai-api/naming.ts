import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { type Chat, getChatFor } from '../protocols/chats/finding.ts'
import { isChatName } from '../protocols/chats/rules.ts'
import type { Queries } from '../storage/database.ts'
import { fromOpenAiId, toName } from './responses/rules-ids.ts'

/** A conversation of OpenAI that the actor has made. @throws ChatError `not_found` */
export async function getMade(ctx: Context, db: Queries, actor: Actor, id: string): Promise<Chat> {
  if (!fromOpenAiId('conversation', id)) throw new ChatError('not_found')
  return getChatFor(ctx, db, actor, toName(id))
}

/** A conversation of OpenAI, or a chat that the actor has named in another protocol. @throws ChatError `not_found` */
export async function getNamed(ctx: Context, db: Queries, actor: Actor, id: string): Promise<Chat> {
  if (fromOpenAiId('conversation', id)) return getMade(ctx, db, actor, id)
  if (!isChatName(id)) throw new ChatError('not_found')
  return getChatFor(ctx, db, actor, id)
}
