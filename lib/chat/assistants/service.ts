import { may, reachFor } from '../../core/access.ts'
import { useCase } from '../../core/use-case.ts'
import { requireReader } from '../memberships/access.ts'
import { refusalToAsk, toInfo } from './rules.ts'
import { type AssistantList, AssistantsQuery } from './schema.ts'

/**
 * The assistants that the actor may ask: in a conversation, or as far as no conversation decides.
 *
 * @throws ChatError `not_found` for a conversation that the actor cannot read
 */
export const list = useCase({
  takes: ['actor'],
  input: AssistantsQuery,
  errors: ['not_found'],
  run: async (ctx, actor, { conversation_id }): Promise<AssistantList> => {
    const { access, assistants } = ctx
    const { offered, fallback } = assistants
    const membership =
      conversation_id === undefined ? undefined : await requireReader(ctx, ctx.db, actor, conversation_id)
    const mayAsk = membership
      ? may(access, { ...membership, actor }, 'ask')
      : reachFor(access, actor, 'ask_assistant') !== undefined
    const asked = mayAsk ? offered.filter((each) => !refusalToAsk(each, { ...membership, actor })) : []
    const { label, notice } = ctx.config.assistant
    return { assistants: asked.map((each) => toInfo(each, each === fallback)), label, ...(notice && { notice }) }
  },
})
