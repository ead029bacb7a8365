import { byActor } from '../../accounts/audit/rules.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { type CallMove, moveCalls } from '../answers/calls.ts'
import { type CallAct, stateOfRun } from '../answers/rules-calls.ts'
import { listStates } from '../answers/store-calls.ts'
import { resumeAnswer } from '../answers/store-runs.ts'
import type { LockedForChange } from '../memberships/access.ts'
import { findDecider } from './deciders.ts'
import { type Decider, hasExpired, mayApprove, mayDeny, refusedKind } from './rules.ts'
import type { ApprovalState, Decision } from './schema.ts'
import { type ApprovalRow, findApprovals, listVotes, putVote, type VoteRow } from './store.ts'

/** The outcomes of decisions: what happens to the call, and the state of its approval. */
const OUTCOMES = {
  approve: 'approved',
  deny: 'denied',
  expire: 'expired',
} as const satisfies Partial<Record<CallAct, ApprovalState>>

type Outcome = keyof typeof OUTCOMES

/**
 * Stores what an actor says of calls of one answer, in a transaction that has locked their conversation. Who has said the
 * same before changes nothing.
 *
 * @throws ChatError `not_found`; `forbidden`; `conflict` after the outcome, and for calls of several answers
 */
export async function decideCalls(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  { ids, place, approve, reason }: Decision & { ids: readonly string[]; place: LockedForChange },
): Promise<void> {
  const rows = await findApprovals(tx, ids)
  const isKnown = (row: ApprovalRow) => !row.is_gone && row.conversation_id === place.conversation_id
  if (rows.length < new Set(ids).size || !rows.every(isKnown)) throw new ChatError('not_found')
  if (new Set(rows.map(({ message_id }) => message_id)).size > 1)
    throw new ChatError('conflict', { message: 'The calls are of several answers.' })
  const votes = await listVotes(tx, ids)
  const decider: Decider = { ...place, policy: place.policy ?? null, frozen_at: place.frozen_at ?? null, actor }
  const outcomes: { row: ApprovalRow; outcome: Outcome }[] = []
  for (const row of rows) {
    const own = votes.filter(({ call_id }) => call_id === row.id)
    const before = own.find(({ user_id }) => user_id === actor.user_id)
    const refused = refusedKind(actor, row)
    if (refused) throw new ChatError('forbidden', { reason: refused })
    if (before && (before.approve === 1) === approve) continue
    const isAllowed = approve ? mayApprove(ctx.access, row, decider) : mayDeny(ctx.access, row, decider)
    if (!isAllowed) throw new ChatError('forbidden', { reason: 'participant_role' })
    if (row.approval !== 'waiting') throw decided(row.approval)
    if (hasExpired(row, ctx.now())) throw decided('expired')
    const { user_id } = actor
    const vote = {
      id: ctx.id(),
      call_id: row.id,
      user_id,
      approve: Number(approve),
      at: place.at,
      reason: reason ?? null,
    }
    await putVote(tx, vote)
    if (!approve) outcomes.push({ row, outcome: 'deny' })
    else if (await hasQuorum(ctx, tx, row, own.filter((each) => each !== before).concat(vote)))
      outcomes.push({ row, outcome: 'approve' })
    emitChange(tx, row)
  }
  await settleCalls(tx, outcomes, place.at, actor)
}

const decided = (state: ApprovalState) => new ChatError('conflict', { message: `The call is ${state} already.` })

/** Whether enough of those approve who may do so now. */
async function hasQuorum(ctx: Context, tx: Queries, row: ApprovalRow, votes: readonly VoteRow[]): Promise<boolean> {
  let count = 0
  for (const { user_id, approve } of votes) {
    const decider = approve === 1 && user_id !== null ? await findDecider(tx, row.conversation_id, user_id) : undefined
    if (decider && mayApprove(ctx.access, row, decider)) count++
  }
  return count >= row.quorum
}

function emitChange(tx: Tx, { id: call_id, message_id, conversation_id }: ApprovalRow): void {
  tx.emit(conversation_id, { type: 'approval.changed', message_id, detail: { call_id } })
}

/** Stores the outcomes for calls of one answer; an answer that waited goes on if it can. */
async function settleCalls(
  tx: Tx,
  outcomes: readonly { row: ApprovalRow; outcome: Outcome }[],
  at: Micros,
  actor?: Actor,
): Promise<void> {
  const first = outcomes[0]?.row
  if (!first) return
  const states = (await listStates(tx, first.message_id))!
  const moves = outcomes.map(({ row, outcome }): CallMove => {
    const { id, name, message_id, conversation_id } = row
    const detail = { tool: name, message_id, outcome: OUTCOMES[outcome] }
    tx.audit({ act: 'approval.decided', ...(actor && byActor(actor)), subject_id: id, conversation_id, detail })
    return { call: row, act: outcome, change: { approval: OUTCOMES[outcome], decided_at: at } }
  })
  await moveCalls(tx, first, states, moves, at)
  if (stateOfRun([...states.values()]) !== 'waiting') await resumeAnswer(tx, first.message_id)
}

/** Ends the wait for a decision, if there is one: its time is up. Part of a transaction that has locked the conversation. */
export async function expireCall(tx: Tx, row: ApprovalRow, at: Micros): Promise<void> {
  if (row.approval !== 'waiting') return
  emitChange(tx, row)
  await settleCalls(tx, [{ row, outcome: 'expire' }], at)
}
