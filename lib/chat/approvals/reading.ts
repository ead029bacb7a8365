import { fromStoredValue } from '../../core/stored-value.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import type { Approval } from './schema.ts'
import { type ApprovalRow, findApprovals, listVotes, type VoteRow } from './store.ts'

/** Approvals as events have them, by the ids of their calls. */
export async function readApprovals(db: Queries, ids: ReadonlySet<string>): Promise<Map<string, Approval>> {
  if (ids.size === 0) return new Map()
  const rows = await findApprovals(db, ids)
  const votes = await listVotes(db, ids)
  const votesOf = (id: string) => votes.filter(({ call_id }) => call_id === id)
  return new Map(rows.map((row) => [row.id, toApproval(row, votesOf(row.id))]))
}

/** @param may_decide whether the reader may; `undefined` in an event, which has the input only where the answer shows it */
export function toApproval(row: ApprovalRow, votes: readonly VoteRow[], may_decide?: boolean): Approval {
  const { id, approval, message_id, root_id, conversation_id, name, title, user_id, decided_at } = row
  const isInputShown = row.input !== null && !row.is_gone && (row.is_shown === 1 || may_decide === true)
  return {
    call_id: id,
    state: approval,
    ...{ message_id, root_id, conversation_id },
    tool: { name, title: title ?? name },
    ...(isInputShown && { input: fromStoredValue(row.input!) }),
    ...(user_id !== null && { requested_by: user_id }),
    by: row.approvers,
    quorum: row.quorum,
    votes: votes.map(({ user_id: by, approve, at, reason }) => ({
      ...(by !== null && { user_id: by }),
      approve: approve === 1,
      at: toInstant(at),
      ...(reason !== null && { reason }),
    })),
    requested_at: toInstant(row.requested_at),
    expires_at: toInstant(row.expires_at),
    ...(decided_at !== null && { decided_at: toInstant(decided_at) }),
    ...(may_decide !== undefined && { may_decide }),
  }
}
