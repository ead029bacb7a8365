import type { WrittenPiece } from '../../chat/answers/service-rows.ts'
import { type CallDecision, decideEach } from '../../chat/approvals/service-each.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import type { Span } from './framing.ts'
import { findDecisions } from './rules.ts'
import { readAllRows } from './segments.ts'

/** An answer that goes on: what of it is streamed, and its rows so far. */
export interface DecidedAnswer {
  message_id: string
  span: Span
  rows: readonly WrittenPiece[]
}

/**
 * Decides on calls of an answer in one transaction.
 *
 * @param before rows of the answer that were read before
 * @returns the answer, and what of it follows the segment in which they waited
 * @throws ChatError `not_found`, `forbidden`, `conflict`, as `decideEach`
 */
export async function decideAndFollow(
  ctx: Context,
  actor: Actor,
  messageId: string,
  { decisions, before }: { decisions: CallDecision[]; before?: readonly WrittenPiece[] },
): Promise<DecidedAnswer> {
  await decideEach.run(ctx, actor, messageId, { decisions })
  // After the decision: others may have decided on other calls until then, which has ended a segment.
  const { rows } = await readAllRows(ctx, actor, messageId, before)
  const { after, decided } = findDecisions(rows, new Set(decisions.map(({ call_id }) => call_id)))
  return { message_id: messageId, span: { after, until: decided }, rows }
}
