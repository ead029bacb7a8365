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

/** What is wanted of the calls on which a user may decide. */
export interface DecidableFilter {
  /** The roles of participants that manage a conversation. */
  managing: readonly string[]
  after?: string | undefined
  limit: number
}

/**
 * Up to `limit` approvals on which a user may decide as far as the role in the conversation tells, newest first, with that role:
 * those of conversations that the user manages, those on which members decide, and those of the user's own questions. What
 * others decide on in the user's conversations is not read.
 */
export async function listDecidable(
  db: Queries,
  userId: string,
  { managing, after, limit }: DecidableFilter,
): Promise<(ApprovalRow & Standing)[]> {
  const isAfter = after !== undefined && sql`c.id < ${after}`
  const manages = sql`own.role ${among(db, managing)}`
  // Enough for a user who manages many conversations. By approvals_waiting.
  const newest = sql`SELECT c.id FROM (SELECT c.id, c.conversation_id, c.user_id, c.approvers FROM tool_calls c
        ${where(sql`c.approval = 'waiting'`, isAfter)} ORDER BY c.id DESC LIMIT ${literal(NEWEST)}) c
      JOIN participants own ON own.conversation_id = c.conversation_id AND own.user_id = ${userId}
      WHERE ${manages} OR c.approvers = 'members' OR c.user_id = ${userId}
      ORDER BY c.id DESC LIMIT ${limit}`
  const rows = await findOwn(db, userId, { wanted: [sql`c.id ${amongFound(db, newest)}`], limit })
  if (rows.length === limit) return rows
  const own = sql`SELECT own.conversation_id FROM participants own WHERE own.user_id = ${userId}`
  const wanted = sql`SELECT id FROM tool_calls WHERE user_id = ${userId} AND approval = 'waiting'
      UNION ${waitingIn(db, sql`${own} AND ${manages}`)}
      UNION ${waitingIn(db, own, sql`AND approvers = 'members'`)}`
  // First without their inputs, which may be long.
  const first = sql`SELECT c.id FROM tool_calls c JOIN messages m ON m.id = c.message_id
      JOIN participants own ON own.conversation_id = c.conversation_id AND own.user_id = ${userId}
      JOIN conversations v ON v.id = c.conversation_id AND v.deleted_at IS NULL
      ${where(sql`c.id ${amongFound(db, wanted)}`, isAfter, sql`m.deleted_at IS NULL`, sql`NOT ${isErasedAuthor(sql`m.posted_by`)}`)}
      ORDER BY c.id DESC LIMIT ${limit}`
  return findOwn(db, userId, { wanted: [sql`c.id ${amongFound(db, first)}`], limit })
}

/** The ids of the calls that wait in these conversations. By approvals_that_wait. */
function waitingIn({ dialect }: Queries, conversations: Sql, condition = sql``): Sql {
  return dialect === 'sqlite'
    ? sql`SELECT id FROM tool_calls WHERE approval = 'waiting' ${condition} AND conversation_id IN (${conversations})`
    : // One conversation after the other: PostgreSQL would rather read all that wait.
      sql`SELECT c.id FROM (${conversations}) AS own CROSS JOIN LATERAL (
            SELECT id FROM tool_calls WHERE conversation_id = own.conversation_id AND approval = 'waiting' ${condition}
            OFFSET 0) AS c`
}

/** Up to `limit` approvals of a user's conversations that meet these conditions, newest first, with the user's role. */
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

/** The votes on these calls, oldest first; those of users who are being erased have no user and no reason. By votes_of_call. */
export function listVotes(db: Queries, callIds: Iterable<string>): Promise<VoteRow[]> {
  return db.all<VoteRow>(
    sql`SELECT v.id, v.call_id, CASE WHEN gone.user_id IS NULL THEN v.user_id END AS user_id, v.approve, v.at,
            CASE WHEN gone.user_id IS NULL THEN v.reason END AS reason
       FROM approval_votes v LEFT JOIN erased_authors gone ON gone.user_id = v.user_id
      WHERE v.call_id ${among(db, callIds)}
      ORDER BY v.at, v.id`,
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
