import type { Actor } from '../../core/actor.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ListSessionsOfCalls, SessionOfCall, SessionToConfirm } from './store.ts'

/** The maximum number of sessions, a few hundred bytes each. The least recently read ones are dropped. */
const MAX_SESSIONS = 4_096

/**
 * Sessions as this process read them last, by the digests of their tokens. A call may begin with one, without waiting for the
 * database. Its transaction must then confirm it: no session is accepted that has ended on any node before the transaction.
 */
export interface RememberedSessions {
  find(tokenHash: string): SessionOfCall | undefined
  remember(session: SessionOfCall): void
  /** Notes that an actor is known by a remembered session only. */
  rely(actor: Actor, session: SessionOfCall): void
  isCertain(actor: Actor): boolean
  /** What a statement must find as it was; `undefined` for an actor who is certain. */
  toConfirm(actor: Actor): SessionToConfirm | undefined
  /** Reads the sessions of the actors who are not certain. @returns the actors whose session, role or limits have changed */
  findChanged(tx: Queries, actors: readonly Actor[]): Promise<ReadonlySet<Actor>>
}

/** Creates the sessions of one process. */
export function createRememberedSessions(list: ListSessionsOfCalls, sessionNow: () => Micros): RememberedSessions {
  const sessions = new Map<string, SessionOfCall>()
  const relied = new WeakMap<Actor, SessionOfCall>()
  return {
    find: (tokenHash) => sessions.get(tokenHash),
    remember(session) {
      // A map has its entries in the order in which they were added.
      sessions.delete(session.token_hash)
      sessions.set(session.token_hash, session)
      const [oldest] = sessions.keys()
      if (sessions.size > MAX_SESSIONS) sessions.delete(oldest!)
    },
    rely: (actor, session) => void relied.set(actor, session),
    isCertain: (actor) => !relied.has(actor),
    toConfirm(actor) {
      const session = relied.get(actor)
      if (!session) return undefined
      const { id: session_id, user_id, token_hash, roles, limits_version } = session
      return { session_id, user_id, token_hash, roles, limits_version, now: sessionNow() }
    },
    async findChanged(tx, actors) {
      const uncertain = actors.filter((actor) => relied.has(actor))
      if (uncertain.length === 0) return NONE
      const rows = await list(tx, [...new Set(uncertain.map((actor) => relied.get(actor)!.token_hash))])
      const now = sessionNow()
      const current = new Map(rows.filter((row) => mayCall(row, now)).map((row) => [row.token_hash, row]))
      return new Set(uncertain.filter((actor) => isChanged(relied.get(actor)!, current)))
    },
  }
}

const NONE: ReadonlySet<Actor> = new Set()

function isChanged(before: SessionOfCall, current: ReadonlyMap<string, SessionOfCall>): boolean {
  const after = current.get(before.token_hash)
  return after?.id !== before.id || after.roles !== before.roles || after.limits_version !== before.limits_version
}

/** Whether the user of a session may call: the session has not expired, and the user is not disabled. */
export function mayCall({ disabled_at, ...session }: SessionOfCall, now: Micros): boolean {
  return !disabled_at && now <= session.idle_expires_at && now <= session.absolute_expires_at
}
