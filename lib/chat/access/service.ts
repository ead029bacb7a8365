import { toActor } from '../../accounts/users/rules.ts'
import { findUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import {
  assertMayWrite,
  assertServiceRight,
  reachFor,
  refusalByRoles,
  refusalInService,
  SERVICE_RIGHTS,
  type ServiceRight,
} from '../../core/access.ts'
import { type Actor, assertOperator, splitRoles } from '../../core/actor.ts'
import { REASONS } from '../../core/error-table.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import { type Obstacle, obstacleTo } from '../conversations/rules.ts'
import { mayReadOpen } from '../memberships/rules.ts'
import { findMembership } from '../memberships/store.ts'
import { type CountedRow, findConversation } from '../memberships/store-conversations.ts'
import { isClosed } from '../memberships/store-direct.ts'
import { assertJoinedByAnyone } from '../rooms/service.ts'
import { ACTS_IN_CONVERSATION, type ActInConversation, ExplainQuery, type Explanation } from './schema.ts'

/**
 * Whether a user may do something now, in the service or in a conversation, and if not, why: by the rules that the call would
 * be asked. What only the call itself has, such as the user that it is about, is not known here.
 *
 * @throws ChatError `forbidden` unless the actor is the operator; `not_found` for the user or the conversation;
 *   `validation_failed` for an act that is none of the service, or none in a conversation
 */
export const explain = useCase({
  takes: ['actor'],
  input: ExplainQuery,
  errors: ['forbidden', 'not_found', 'validation_failed'],
  run: async (ctx, actor, { user_id, act, conversation_id }): Promise<Explanation> => {
    assertOperator(actor)
    const user = await findUser(ctx.db, user_id)
    if (!user) throw new ChatError('not_found')
    const roles = splitRoles(user.roles)
    const verdict = (obstacle: Obstacle | undefined, more: Pick<Explanation, 'reach' | 'role'> = {}): Explanation => {
      const { reason, right, message } = obstacle ?? {}
      const sentence = message ?? (reason ? REASONS[reason] : ALLOWED)
      const why = { ...(reason && { reason }), ...(right && { right }), message: sentence }
      return { act, allowed: !obstacle, ...why, roles, ...more }
    }
    if (user.disabled_at !== null) return verdict({ message: 'The account is disabled.' })
    if (conversation_id !== undefined) {
      const { obstacle, ...more } = await inConversation(
        ctx,
        toActor(user),
        oneOf(ACTS_IN_CONVERSATION, act),
        conversation_id,
      )
      return verdict(obstacle, more)
    }
    const right: ServiceRight = oneOf(SERVICE_RIGHTS, act)
    const reach = reachFor(ctx.access, toActor(user), right)
    return reach ? verdict(undefined, { reach }) : verdict(refusalInService(ctx.access, toActor(user), right))
  },
})

const ALLOWED = 'The call would pass.'

/** @throws ChatError `validation_failed` unless the act is one of these */
function oneOf<Act extends string>(acts: readonly Act[], act: string): Act {
  const found = acts.find((each) => each === act)
  if (found !== undefined) return found
  const message = `must be one of ${acts.join(', ')} ${acts.some((each) => each === 'join') ? 'in' : 'without'} a conversation`
  throw new ChatError('validation_failed', { errors: [{ path: 'act', message }] })
}

async function inConversation(
  ctx: Context,
  actor: Actor,
  act: ActInConversation,
  id: string,
): Promise<{ obstacle: Obstacle | undefined; role?: string }> {
  const row = await findConversation(ctx.db, id)
  if (!row) throw new ChatError('not_found')
  const membership = await findMembership(ctx.db, id, actor.user_id)
  if (!membership) return { obstacle: await obstacleOutside(ctx, actor, act, row) }
  const is_closed = row.is_direct === 1 && (await isClosed(ctx.db, id, actor.user_id))
  const { role } = membership
  if (act === 'read') return { obstacle: undefined, role }
  return {
    obstacle: obstacleTo(ctx.access, { ...row, actor, role, is_closed }, act, ctx.config.limits.mention_all),
    role,
  }
}

/** Why a user who does not participate would be refused an act. */
function obstacleOutside(
  ctx: Context,
  actor: Actor,
  act: ActInConversation,
  { id, visibility }: CountedRow,
): Obstacle | undefined | Promise<Obstacle | undefined> {
  if (act === 'join') return obstacleToJoin(ctx, actor, id)
  // A mention of all is a part of a post.
  if (act !== 'read')
    return refusalByRoles(ctx.access, actor, act === 'mention_all' ? 'post' : act) ?? { reason: 'not_joined' }
  if (visibility !== 'open') return { reason: 'not_joined' }
  return mayReadOpen(ctx.access, actor, visibility) ? undefined : { reason: 'role', right: 'browse' }
}

async function obstacleToJoin(ctx: Context, actor: Actor, id: string): Promise<Obstacle | undefined> {
  try {
    assertMayWrite(ctx.access, actor)
    assertServiceRight(ctx.access, actor, 'browse')
    await assertJoinedByAnyone(ctx.db, id)
    return undefined
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    const { reason, right, code, message } = error
    return code === 'not_found'
      ? { message: 'It is private.' }
      : { ...(reason && { reason }), ...(right && { right }), message }
  }
}
