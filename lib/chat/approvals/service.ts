import type { Context } from '../../context.ts'
import { type Actor, assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { lockAsMember, requireMember } from '../memberships/access.ts'
import { decideCalls } from './deciding.ts'
import { toApproval } from './reading.ts'
import { type Decider, hasExpired, mayDecide, refusedKind, rolesThatManage } from './rules.ts'
import { type Approval, type ApprovalPage, ApprovalsQuery, Decision } from './schema.ts'
import { type ApprovalRow, findApprovals, listApprovals, listDecidable, listVotes } from './store.ts'

/** How many approvals a page looks at for those on which its reader may decide. */
const MAX_LOOKED_AT = 1_000

/** How many of them are read at a time, at least, once the reader may not decide on all of the first. */
const READ_AT_ONCE = 200

/**
 * A page of the approvals of the actor's conversations, newest first.
 *
 * @throws ChatError `not_found` for a conversation in which the actor does not participate
 */
export const list = useCase({
  takes: ['actor'],
  input: ApprovalsQuery,
  errors: ['not_found', 'forbidden'],
  run: (ctx, actor, { mine, limit, ...filter }): Promise<ApprovalPage> => {
    assertPerson(actor)
    return ctx.db.snapshot(async (db) => {
      if (filter.conversation_id !== undefined) await requireMember(ctx, db, actor, filter.conversation_id)
      const { state } = filter
      // No participant decides on those any more.
      if (mine && state !== undefined && state !== 'waiting') return { approvals: [] }
      const page = await readPage(ctx, db, actor, { ...filter, ...(mine && { state: 'waiting' }), mine, limit })
      const approvals = await toApprovals(db, page.rows)
      const fitting = fit(approvals)
      const next = fitting.length < approvals.length ? fitting.at(-1)!.call_id : page.next_after
      return { approvals: fitting, ...(next !== undefined && { next_after: next }) }
    })
  },
})

/** A row, and whether its reader may decide. */
interface Judged {
  row: ApprovalRow
  may_decide: boolean
}

async function readPage(
  ctx: Context,
  db: Queries,
  actor: Actor,
  { mine, limit, ...filter }: Omit<ApprovalsQuery, 'limit'> & { limit: number },
): Promise<{ rows: Judged[]; next_after?: string }> {
  const rows: Judged[] = []
  const managing = rolesThatManage(ctx.access)
  const isFromAll = mine && filter.conversation_id === undefined
  let after = filter.after
  let size = limit
  for (let looked = 0; looked < MAX_LOOKED_AT; looked += size) {
    // What the role in a conversation does not tell refuses few: its policy, a key, an asker who may not decide.
    if (looked > 0) size = Math.max(limit, READ_AT_ONCE)
    const found = isFromAll
      ? await listDecidable(db, actor.user_id, { managing, after, limit: size + 1 })
      : await listApprovals(db, actor.user_id, { ...filter, after, limit: size + 1 })
    for (const row of found.slice(0, size)) {
      if (rows.length === limit) return { rows, next_after: after! }
      const may_decide = judge(ctx, actor, row, { ...row, actor })
      if (may_decide || !mine) rows.push({ row, may_decide })
      after = row.id
    }
    if (found.length <= size) return { rows }
    if (rows.length === limit) break
  }
  return { rows, next_after: after! }
}

function judge(ctx: Context, actor: Actor, row: ApprovalRow, decider: Decider): boolean {
  if (refusedKind(actor, row) || hasExpired(row, ctx.now())) return false
  return mayDecide(ctx.access, row, decider)
}

async function toApprovals(db: Queries, rows: readonly Judged[]): Promise<Approval[]> {
  const votes =
    rows.length > 0
      ? await listVotes(
          db,
          rows.map(({ row }) => row.id),
        )
      : []
  return rows.map(({ row, may_decide }) =>
    toApproval(
      row,
      votes.filter(({ call_id }) => call_id === row.id),
      may_decide,
    ),
  )
}

/**
 * A call of a tool on which participants decide.
 *
 * @throws ChatError `not_found`
 */
export const get = useCase({
  takes: ['actor', 'call_id'],
  errors: ['not_found', 'forbidden'],
  run: (ctx, actor, callId): Promise<Approval> => {
    assertPerson(actor)
    return ctx.db.snapshot((db) => read(ctx, db, actor, callId))
  },
})

async function read(ctx: Context, db: Queries, actor: Actor, callId: string): Promise<Approval> {
  const [row] = await findApprovals(db, [callId])
  const { role, policy = null, frozen_at = null } = await requireMember(ctx, db, actor, row?.conversation_id)
  if (row!.is_gone) throw new ChatError('not_found')
  const [approval] = await toApprovals(db, [
    { row: row!, may_decide: judge(ctx, actor, row!, { role, policy, frozen_at, actor }) },
  ])
  return approval!
}

/**
 * Approves or denies a call of a tool, or several of one answer: all, or none. The same decision again changes nothing.
 *
 * @throws ChatError `not_found`; `forbidden` without the right, for a program, and for a key that may not decide; `conflict` after
 *   the outcome
 */
export const decide = useCase({
  takes: ['actor', 'call_ids'],
  input: Decision,
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, callIds, decision): Promise<Approval> => {
    assertPerson(actor)
    const ids = typeof callIds === 'string' ? [callIds] : [...new Set(callIds)]
    const [first] = await findApprovals(ctx.db, ids.slice(0, 1))
    const { conversation_id } = first ?? {}
    await requireMember(ctx, ctx.db, actor, conversation_id, {})
    await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversation_id! })
      await decideCalls(ctx, tx, actor, { ids, place, ...decision })
    })
    ctx.answers.decided(first!.message_id)
    return read(ctx, ctx.db, actor, ids[0]!)
  },
})
