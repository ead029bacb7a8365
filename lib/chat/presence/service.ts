import { assertMay, may } from '../../core/access.ts'
import { assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { requireMember } from '../memberships/access.ts'
import { findThreadConversation } from '../threads/store.ts'
import { Heartbeat, PresenceQuery, type Presences, TypingSignal } from './schema.ts'
import { listKnownTo } from './store.ts'

/** Reports the actor as online to all users who share a conversation with the actor. */
export const sendHeartbeat = useCase({
  takes: ['actor'],
  input: Heartbeat,
  run: async (ctx, actor, input): Promise<void> => {
    assertPerson(actor)
    return ctx.streams.presence.heartbeat(actor.user_id, input.status)
  },
})

/** The presence of the actor, and of the given users who share a conversation with the actor, in the given order. */
export const list = useCase({
  takes: ['actor'],
  input: PresenceQuery,
  run: async (ctx, actor, input): Promise<Presences> => {
    assertPerson(actor)
    const userIds = [...new Set(input.user_ids.toLowerCase().split(','))]
    const acquaintances = new Set([actor.user_id, ...(await listKnownTo(ctx.db, actor.user_id, userIds))])
    const presences = await ctx.streams.presence.findAll(userIds.filter((id) => acquaintances.has(id)))
    return { presence: [...presences].map(([user_id, presence]) => ({ user_id, ...presence })) }
  },
})

/**
 * Publishes to a conversation that the actor is typing, or has stopped. Nothing is stored.
 *
 * @throws ChatError `not_found` for the conversation, or a thread that is not in it; `forbidden` if the actor may not post
 */
export const setTyping = useCase({
  takes: ['actor'],
  input: TypingSignal,
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, input): Promise<void> => {
    const { conversation_id, root_id, seconds } = input
    const place = await requireMember(ctx, ctx.db, actor, conversation_id, { act: 'post' })
    const by = { ...place, actor }
    // A root or a reply: without one of the two, the other decides.
    if (!may(ctx.access, by, 'reply')) assertMay(ctx.access, by, 'post')
    if (root_id && (await findThreadConversation(ctx.db, root_id)) !== conversation_id) throw new ChatError('not_found')
    const expires_at = toInstant(seconds > 0 ? ctx.now() + seconds * SECOND : ctx.now() - SECOND)
    const payload = { conversation_id, ...(root_id && { root_id }), user_id: actor.user_id, expires_at }
    ctx.streams.hub.publishEphemeral(conversation_id, { type: 'typing.update', payload })
  },
})
