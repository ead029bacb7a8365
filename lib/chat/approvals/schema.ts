import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, text } from '../../core/schema.ts'
import { PartValue } from '../answers/schema-parts.ts'

/** Where a decision is. */
export const ApprovalState = v.picklist(['waiting', 'approved', 'denied', 'expired', 'cancelled'])
export type ApprovalState = v.InferOutput<typeof ApprovalState>

/** What one participant says of a call. */
export const ApprovalVote = v.object({
  user_id: v.optional(v.pipe(Id, v.description('Missing for an erased user'))),
  approve: v.boolean(),
  at: Instant,
  reason: v.optional(v.string()),
})

/** The tool of a call. */
export const ApprovalTool = v.object({ name: v.string(), title: v.string() })

/** A call of a tool on which participants decide, or have decided. */
export const Approval = v.object({
  call_id: Id,
  state: v.pipe(
    ApprovalState,
    v.description('`cancelled`: the answer has ended before the decision; `expired`: no decision came in time'),
  ),
  message_id: v.pipe(Id, v.description('The answer that waits')),
  root_id: Id,
  conversation_id: Id,
  tool: ApprovalTool,
  input: v.optional(v.pipe(PartValue, v.description('What will run. Some tools show it only to those who may decide'))),
  requested_by: v.optional(v.pipe(Id, v.description('The user who asked the assistant; missing for an erased user'))),
  by: v.picklist(['asker', 'admins', 'members']),
  quorum: v.pipe(v.number(), v.integer(), v.minValue(1), v.description('How many must approve; one denial ends it')),
  votes: v.array(ApprovalVote),
  requested_at: Instant,
  expires_at: Instant,
  decided_at: v.optional(Instant),
  may_decide: v.optional(
    v.pipe(v.boolean(), v.description('Whether you may approve or deny it. In answers to requests, not in events')),
  ),
})
export type Approval = v.InferOutput<typeof Approval>

export const ApprovalsQuery = v.object({
  conversation_id: v.optional(v.pipe(Id, v.description('Only those of this conversation'))),
  state: v.optional(v.pipe(ApprovalState, v.description('Only those in this state'))),
  mine: v.optional(v.pipe(v.boolean(), v.description('`true`: only those on which you may still decide'))),
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type ApprovalsQuery = v.InferOutput<typeof ApprovalsQuery>

/** A page of approvals, newest first. */
export const ApprovalPage = v.object({ approvals: v.array(Approval), next_after: v.optional(Id) })
export type ApprovalPage = v.InferOutput<typeof ApprovalPage>

export const Decision = v.object({ approve: v.boolean(), reason: v.optional(text(MAX_LENGTH.remark)) })
export type Decision = v.InferOutput<typeof Decision>

/** The approval after a decision. */
export const Decided = v.object({ approval: Approval })
export type Decided = v.InferOutput<typeof Decided>
