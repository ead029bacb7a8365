import { type CallDecision, decideEach } from '../../chat/approvals/service-each.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import type { Span } from './following.ts'
import { findSegmentOf } from './segments.ts'

/**
 * Decides on calls of an answer in one transaction.
 *
 * @returns the answer, and what of it follows the segment in which they waited
 * @throws ChatError `not_found`, `forbidden`, `conflict`, as `decideEach`
 */
export async function decideAndFollow(
  ctx: Context,
  actor: Actor,
  messageId: string,
  decisions: CallDecision[],
): Promise<{ message_id: string; span: Span }> {
  await decideEach.run(ctx, actor, messageId, { decisions })
  // After the decision: others may have decided on other calls until then, which has ended a segment.
  const callIds = new Set(decisions.map(({ call_id }) => call_id))
  return { message_id: messageId, span: { after: await findSegmentOf(ctx, actor, messageId, callIds) } }
}
