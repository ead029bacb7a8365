import type { Cluster } from '../../cluster/cluster.ts'
import { listPresence, listPresent, type PresenceRow, upsertPresence } from '../../cluster/store-presence.ts'
import type { Slots } from '../../core/scheduling/slots.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { createOwnChanges } from './own-changes.ts'
import { GRACE, LAPSE, type LastSeen } from './rules.ts'
import type { OwnStreams } from './stream-counts.ts'

interface RemotePresenceDeps {
  cluster: Cluster
  now: () => Micros
  /** What is stored of users is stored one after another. */
  inOrder: Slots<'users'>['run']
}

/** What this process knows of a user, with the open streams. */
export type OwnLastSeen = LastSeen & OwnStreams

/** What the other processes know of users, and what this one lets them know. */
export type RemotePresence = ReturnType<typeof createRemotePresence>

export function createRemotePresence({ cluster, now, inOrder }: RemotePresenceDeps) {
  const { db, usesSignalFile } = cluster
  const own = createOwnChanges(now)

  return {
    /** A user has come here or has left, or other processes do not know of the user. */
    changed: (userId: string): void => void (cluster.isShared && own.add(userId)),

    /** A user has sent a heartbeat: a repeated status is stored later. */
    heartbeatReceived: (userId: string, status: Presence['status']): void =>
      void (cluster.isShared && own.addStatus(userId, status)),

    /** Other processes have stored these users: a status repeated here may be later than theirs. */
    changedElsewhere: own.forget,

    /** The users with a repeated heartbeat that must be stored by now. */
    due: own.due,

    /** One of the users who have changed here since they were stored, also after a failure; `undefined` if none has. */
    nextUnstored: own.next,

    /** What this process has stored may be gone: the users with a status are stored again. @returns these */
    startAgain: (): string[] => (cluster.isShared ? own.startAgain() : []),

    /** Stores what has changed here. @returns the users whose presence may differ by it */
    async store(find: (userIds: string[]) => Promise<Map<string, OwnLastSeen>>): Promise<string[]> {
      const changed = own.take()
      if (changed.length === 0) return []
      try {
        await inOrder('users', async () => {
          const at = now()
          await upsertPresence(db, cluster.id, toRows(await find(changed), at))
        })
      } catch (error) {
        changed.forEach(own.add)
        if (!usesSignalFile) throw error
        return []
      }
      return changed
    },

    /** What the other processes know of these users. @throws the error of the storage */
    async find(userIds: readonly string[]): Promise<Map<string, LastSeen[]>> {
      if (!cluster.hasPeers() || userIds.length === 0) return new Map()
      const at = now()
      return byUser(await known(cluster, listPresence(db, cluster.id, userIds), []), at)
    },

    /** The users that the other processes see. */
    listPresent: async (): Promise<string[]> =>
      cluster.isShared ? known(cluster, listPresent(db, cluster.id, LAPSE), []) : [],
  }
}

/** A row of another process. */
type FoundRow = Awaited<ReturnType<typeof listPresence>>[number]

/** @returns `otherwise` if only the exchange with other processes fails, which is no failure of the storage */
function known<T>({ usesSignalFile }: Cluster, found: Promise<T>, otherwise: T): Promise<T> {
  return usesSignalFile ? found.catch(() => otherwise) : found
}

function byUser(rows: FoundRow[], now: Micros): Map<string, LastSeen[]> {
  const lastSeenBy = new Map<string, LastSeen[]>()
  for (const row of rows) lastSeenBy.set(row.user_id, [...(lastSeenBy.get(row.user_id) ?? []), toLastSeen(row, now)])
  return lastSeenBy
}

function toRows(lastSeen: Map<string, OwnLastSeen>, now: Micros): PresenceRow[] {
  return [...lastSeen].map(([userId, lastSeen]) => toRow(userId, lastSeen, now))
}

function toRow(user_id: string, lastSeen: OwnLastSeen, now: Micros) {
  const { streams, stalled_since, since, heartbeat, seen_at } = lastSeen
  const ageOf = (at: Micros | undefined) => (at === undefined ? null : now - at)
  return {
    user_id,
    streams,
    since_age: ageOf(since),
    status: heartbeat?.status ?? null,
    status_age: ageOf(heartbeat?.at),
    seen_age: ageOf(seen_at ?? since),
    stalled_age: ageOf(stalled_since),
  } satisfies PresenceRow
}

function toLastSeen(row: FoundRow, now: Micros): LastSeen {
  const { since_age, status, status_age, seen_age, left_age } = row
  const isHere = since_age !== null && (left_age === null || left_age < GRACE)
  return {
    ...(isHere && { since: now - since_age, ...(left_age !== null && { leaving: true as const }) }),
    ...(status !== null && { heartbeat: { status: status as Presence['status'], at: now - status_age! } }),
    ...(seen_age !== null && { seen_at: now - seen_age }),
  }
}
