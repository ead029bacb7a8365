import type { ApprovalRule } from '../../config/approval-rule.ts'
import { toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { type AnswerPlace, type CallMove, failed } from '../answers/calls.ts'
import type { CallRow } from '../answers/store-calls.ts'
import { type TellingContext, tellDeciders } from './deciders.ts'
import { countWaiting, lockWaiting } from './store-waiting.ts'

/** How many calls may wait for a decision. */
const MAX_WAITING = { in_conversation: 100, of_asker: 20 }

/**
 * Makes calls wait until participants decide on them; beyond the calls that may wait they are denied. Part of a transaction
 * that has locked the conversation. Those who may decide are notified.
 *
 * @param calls of one answer
 */
export async function askParticipants(
  ctx: TellingContext,
  tx: Tx,
  answer: AnswerPlace,
  calls: readonly { call: CallRow; rule: ApprovalRule }[],
  at: Micros,
): Promise<CallMove[]> {
  if (calls.length === 0) return []
  // The calls of a user may be in several conversations.
  await lockWaiting(tx)
  const { here, own } = await countWaiting(tx, calls[0]!.call)
  const room = Math.max(0, Math.min(MAX_WAITING.in_conversation - here, MAX_WAITING.of_asker - own))
  const asked = calls.slice(0, room)
  if (asked.length > 0) await tellDeciders(ctx, tx, answer, asked, at)
  return calls.map(({ call, rule }, n) =>
    n < room ? ask(tx, call, rule, at) : { call, act: 'exceed', ...failed('limit') },
  )
}

function ask(tx: Tx, call: CallRow, rule: ApprovalRule, at: Micros): CallMove {
  const { id, message_id, conversation_id, user_id } = call
  const { by, quorum, not_asker, keys, expires_seconds } = rule
  const expires_at = at + expires_seconds * SECOND
  const columns = { approvers: by, quorum, not_asker: Number(not_asker), by_keys: Number(keys), expires_at }
  tx.enqueue({ kind: 'approval.expire', key: id, delay_seconds: expires_seconds })
  tx.emit(conversation_id, { type: 'approval.changed', message_id, detail: { call_id: id } })
  const detail = { tool: call.name, message_id }
  tx.audit({ act: 'approval.requested', actor_id: user_id ?? undefined, subject_id: id, conversation_id, detail })
  return {
    call,
    act: 'ask',
    change: { approval: 'waiting', ...columns },
    shown: { approval: { by, quorum, expires_at: toInstant(expires_at) } },
  }
}
