import * as v from 'valibot'
import { byActor } from '../audit/rules.ts'
import type { Actor, Context } from '../context.ts'
import { ChatError } from '../errors.ts'
import { toInstant } from '../ids.ts'
import { Id, Limit } from '../schema.ts'
import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { assertAdmin } from '../users/rules.ts'
import { findUser } from '../users/store.ts'
import { endSessions } from './store.ts'

/** Whose sessions, a page at a time. */
export const SessionsQuery = v.object({ user_id: v.optional(Id), after: v.optional(Id), limit: Limit(50, 200) })

/** Which sessions are to end: one, a user's, or everybody's. */
export const Revocation = v.union([
  v.object({ session_id: Id }),
  v.object({ user_id: Id }),
  v.object({ all: v.literal(true) }),
])

/** What each use-case takes last. */
export const inputs = { list: SessionsQuery, revoke: Revocation }

/** A live session of anybody, as an administrator sees it. */
export interface SessionOfUser {
  id: string
  user_id: string
  username: string
  issued_at: string
  last_seen_at: string
  expires_at: string
  user_agent?: string
  ip?: string
}

/**
 * The sessions that are alive, oldest first: of one user or of all.
 *
 * @throws ChatError `forbidden`
 */
export async function list(
  ctx: Context,
  actor: Actor,
  input: v.InferOutput<typeof SessionsQuery>,
): Promise<{ sessions: SessionOfUser[]; next_after?: string }> {
  assertAdmin(actor)
  const rows = await listSessions(ctx.db, ctx.now(), input, input.limit + 1)
  const sessions = rows.slice(0, input.limit).map(toSessionOfUser)
  return { sessions, ...(rows.length > input.limit && { next_after: sessions.at(-1)!.id }) }
}

/**
 * Ends sessions at once; their streams close.
 *
 * @returns how many have ended
 * @throws ChatError `forbidden`; `not_found` for a session or a user that does not exist
 */
export async function revoke(
  ctx: Context,
  actor: Actor,
  input: v.InferOutput<typeof Revocation>,
): Promise<{ revoked: number }> {
  assertAdmin(actor)
  return ctx.write(async (tx) => {
    const owner = await findOwner(tx, input)
    const revoked = await endSessions(tx, input)
    if (revoked === 0) return { revoked }
    const which = 'session_id' in input && { session_id: input.session_id }
    tx.record({ act: 'session.revoked', ...byActor(actor), subject_id: owner, detail: { sessions: revoked, ...which } })
    tx.recheckStreams()
    return { revoked }
  })
}

/** Whose sessions they are; of all there is no one. @throws ChatError `not_found` */
async function findOwner(tx: Queries, input: v.InferOutput<typeof Revocation>): Promise<string | undefined> {
  if ('all' in input) return undefined
  const owner =
    'session_id' in input
      ? (await tx.get<{ user_id: string }>('SELECT user_id FROM sessions WHERE id = ?', input.session_id))?.user_id
      : (await findUser(tx, input.user_id))?.id
  if (!owner) throw new ChatError('not_found')
  return owner
}

interface Row {
  id: string
  user_id: string
  username: string
  issued_at: Micros
  last_seen_at: Micros
  idle_expires_at: Micros
  absolute_expires_at: Micros
  user_agent: string | null
  ip: string | null
}

/** Up to `limit` live sessions after one, by id, which is the order they were begun in. */
function listSessions(
  db: Queries,
  now: Micros,
  { user_id, after = '' }: { user_id?: string | undefined; after?: string | undefined },
  limit: number,
): Promise<Row[]> {
  return db.all<Row>(
    `SELECT s.id, s.user_id, u.username, s.issued_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at,
            s.user_agent, s.ip
       FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id > ? AND s.idle_expires_at >= ? AND s.absolute_expires_at >= ? ${user_id ? 'AND s.user_id = ?' : ''}
      ORDER BY s.id
      LIMIT ?`,
    after,
    now,
    now,
    ...(user_id ? [user_id] : []),
    limit,
  )
}

function toSessionOfUser(row: Row): SessionOfUser {
  const { id, user_id, username, user_agent, ip } = row
  return {
    id,
    user_id,
    username,
    issued_at: toInstant(row.issued_at),
    last_seen_at: toInstant(row.last_seen_at),
    expires_at: toInstant(Math.min(row.idle_expires_at, row.absolute_expires_at)),
    ...(user_agent && { user_agent }),
    ...(ip && { ip }),
  }
}
