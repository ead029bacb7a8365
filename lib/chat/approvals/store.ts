import type { Queries } from '../../storage/database.ts'
import { among, amongFound, isErasedAuthor, literal, type Micros, type Sql, sql, where } from '../../storage/sql.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import type { ApprovalState } from './schema.ts'

/** A call with an approval, and what its readers get of its message. */
export interface ApprovalRow {
  id: string
  message_id: string
  conversation_id: string
  root_id: string
  /** The user who asked; `null` once erased. */
  user_id: string | null
  part_id: number
  name: string
  title: string | null
  input: string | null
  /** Whether the part of the answer shows the input to its readers. */
  is_shown: number
  approval: ApprovalState
  approvers: 'asker' | 'admins' | 'members'
  quorum: number
  not_asker: number
  by_keys: number
  requested_at: Micros
  expires_at: Micros
  decided_at: Micros | null
  /** Whether its message was deleted. */
  is_gone: number
}

const COLUMNS = sql`c.id, c.message_id, c.conversation_id, m.root_id, c.user_id, c.part_id, c.name, c.title, c.input,
  c.approval, c.approvers, c.quorum, c.not_asker, c.by_keys, c.requested_at, c.expires_at, c.decided_at,
  CASE WHEN m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)} THEN 0 ELSE 1 END AS is_gone,
  CASE WHEN p.part LIKE '%"input":%' THEN 1 ELSE 0 END AS is_shown`

const JOINED = sql`tool_calls c JOIN messages m ON m.id = c.message_id
  JOIN message_chunks p ON p.message_id = c.message_id AND p.idx = c.part_id`

/** Approvals by the ids of their calls, in no order. By primary key. */
export function findApprovals(db: Queries, ids: Iterable<string>): Promise<ApprovalRow[]> {
  return db.all<ApprovalRow>(
    sql`SELECT ${COLUMNS} FROM ${JOINED} WHERE c.id ${among(db, ids)} AND c.approval IS NOT NULL`,
  )
}

/** What a participant may do in the conversation of an approval. */
export interface Standing {
  role: ParticipantRole
  policy: string | null
  frozen_at: Micros | null
}

/** How many of the calls that wait in all conversations are looked at before those of the conversations of a user are. */
const NEWEST = 256

/** Up to `limit` approvals of the conversations of a user, newest first, with the user's role. */
export async function listApprovals(
  db: Queries,
  userId: string,
  filter: ApprovalFilter,
): Promise<(ApprovalRow & Standing)[]> {
  const { conversation_id, state, after, limit } = filter
  const isAfter = after !== undefined && sql`c.id < ${after}`
  if (state === 'waiting' && conversation_id === undefined) {
    // Enough for a user in many conversations. By approvals_waiting.
    const newest = sql`c.id IN (SELECT c.id FROM tool_calls c ${where(sql`c.approval = 'waiting'`, isAfter)}
      ORDER BY c.id DESC LIMIT ${literal(NEWEST)})`
    const rows = await findOwn(db, userId, { wanted: [newest], limit })
    if (rows.length === limit) return rows
  }
  return findOwn(db, userId, {
    wanted: [
      // By literals: the conditions of the indexes.
      state === 'waiting' ? sql`c.approval = 'waiting'` : sql`c.approval IS NOT NULL`,
      state !== undefined && state !== 'waiting' && sql`c.approval = ${state}`,
      conversation_id === undefined
        ? sql`c.conversation_id ${amongFound(db, sql`SELECT p.conversation_id FROM participants p WHERE p.user_id = ${userId}`)}`
        : sql`c.conversation_id = ${conversation_id}`,
      isAfter,
    ],
    limit,
  })
}

function findOwn(
  db: Queries,
  userId: string,
  { wanted, limit }: { wanted: (Sql | false)[]; limit: number },
): Promise<(ApprovalRow & Standing)[]> {
  return db.all<ApprovalRow & Standing>(
    sql`SELECT ${COLUMNS}, own.role, v.policy, v.frozen_at
       FROM ${JOINED} JOIN participants own ON own.conversation_id = c.conversation_id AND own.user_id = ${userId}
       JOIN conversations v ON v.id = c.conversation_id AND v.deleted_at IS NULL
       ${where(sql`m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)}`, ...wanted)}
      ORDER BY c.id DESC LIMIT ${limit}`,
  )
}

export interface ApprovalFilter {
  conversation_id?: string | undefined
  state?: ApprovalState | undefined
  after?: string | undefined
  limit: number
}

/** What a user says of a call; `user_id` is `null` once the user is erased. */
export interface VoteRow {
  id: string
  call_id: string
  user_id: string | null
  approve: number
  at: Micros
  reason: string | null
}

/** The votes on these calls, oldest first. By votes_of_call. */
export function listVotes(db: Queries, callIds: Iterable<string>): Promise<VoteRow[]> {
  return db.all<VoteRow>(
    sql`SELECT id, call_id, user_id, approve, at, reason FROM approval_votes WHERE call_id ${among(db, callIds)}
      ORDER BY at, id`,
  )
}

/** Stores what a user says of a call, instead of what the user said before. */
export async function putVote(tx: Queries, row: VoteRow): Promise<void> {
  await tx.run(
    sql`INSERT INTO approval_votes (id, call_id, user_id, approve, at, reason)
     VALUES (${row.id}, ${row.call_id}, ${row.user_id}, ${row.approve}, ${row.at}, ${row.reason})
     ON CONFLICT (user_id, call_id) WHERE user_id IS NOT NULL
       DO UPDATE SET approve = excluded.approve, at = excluded.at, reason = excluded.reason`,
  )
}
