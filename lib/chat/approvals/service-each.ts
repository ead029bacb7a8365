import * as v from 'valibot'
import { assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { Id } from '../../core/schema.ts'
import { useCase } from '../../core/use-case.ts'
import { lockAsMember, requireMember } from '../memberships/access.ts'
import { decideCalls } from './deciding.ts'
import { hasExpired } from './rules.ts'
import { Decision } from './schema.ts'
import { findApprovals } from './store.ts'

/** What a user says of each of several calls. */
const Decisions = v.object({ decisions: v.array(v.object({ call_id: Id, ...Decision.entries })) })

/** What a user says of one of several calls. */
export type CallDecision = v.InferOutput<typeof Decisions>['decisions'][number]

/**
 * Decides on several calls of one answer, each by itself, in one transaction: all that wait, or none. What was decided before
 * stays as it is.
 *
 * @throws ChatError `not_found`, also for a call of another answer; `forbidden` as `decide`
 */
export const decideEach = useCase({
  takes: ['actor', 'message_id'],
  input: Decisions,
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, messageId, { decisions }): Promise<void> => {
    assertPerson(actor)
    const ids = [...new Set(decisions.map(({ call_id }) => call_id))]
    const [first] = await findApprovals(ctx.db, ids.slice(0, 1))
    if (first?.message_id !== messageId) throw new ChatError('not_found')
    const { conversation_id } = first
    await requireMember(ctx, ctx.db, actor, conversation_id, {})
    await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id })
      const rows = await findApprovals(tx, ids)
      if (rows.length < ids.length || rows.some((row) => row.message_id !== messageId || row.is_gone))
        throw new ChatError('not_found')
      const waiting = new Set(
        rows.flatMap((row) => (row.approval === 'waiting' && !hasExpired(row, ctx.now()) ? row.id : [])),
      )
      for (const { call_id, ...decision } of decisions)
        if (waiting.delete(call_id)) await decideCalls(ctx, tx, actor, { ids: [call_id], place, ...decision })
    })
    ctx.answers.decided(messageId)
  },
})
