import { SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Presence } from '../conversations/schema.ts'
import { hasLapsed, isAhead } from './rules.ts'

/** A heartbeat with the status that is stored already is stored again after this time, in microseconds. */
const REPEAT = 20 * SECOND

/** The users who have changed in this process since it stored them for other processes. */
export function createOwnChanges(now: () => Micros) {
  const changed = new Set<string>()
  const statuses = createStatuses()
  let cleared = now()
  const add = (userId: string) => void changed.add(userId)

  /** @returns the added users */
  function addAll(userIds: string[]): string[] {
    userIds.forEach(add)
    return userIds
  }

  return {
    add,
    addStatus(userId: string, status: Presence['status']): void {
      const isStored = statuses.note(userId, status, now())
      if (!isStored) add(userId)
    },

    /** The stored status of these users no longer counts. */
    forget: (userIds: readonly string[]): void => void addAll(userIds.filter(statuses.forget)),

    /** Nothing is stored any more: adds the users whose last heartbeat counts. @returns these */
    startAgain(): string[] {
      statuses.clear()
      return addAll(statuses.userIds())
    },

    /** The users to store. */
    take(): string[] {
      const userIds = [...changed]
      changed.clear()
      return userIds
    },

    /** One of the users to store, if there are any: with it, all are stored. */
    next(): string[] {
      const [userId] = changed
      return userId === undefined ? [] : [userId]
    },

    /**
     * Adds the users whose repeated status must be stored by now.
     *
     * @param isPresent whether a user is known to be there: with a stream at any process an older heartbeat counts, too
     * @returns the users
     */
    due(isPresent: (userId: string) => boolean): string[] {
      // Also behind a step back of the clock, by however much.
      if (Math.abs(now() - cleared) < REPEAT) return []
      cleared = now()
      statuses.dropLapsed(cleared, isPresent)
      return addAll(statuses.clear())
    },
  }
}

/** The status that users have set at this process. */
function createStatuses() {
  // What was stored in the last while.
  const stored = new Map<string, Presence['status']>()
  const repeated = new Set<string>()
  // When users have sent their last heartbeat, while it counts.
  const statusAt = new Map<string, Micros>()

  return {
    /** Notes a heartbeat. @returns whether its status is stored already */
    note(userId: string, status: Presence['status'], at: Micros): boolean {
      const isStored = stored.get(userId) === status
      if (isStored) repeated.add(userId)
      stored.set(userId, status)
      statusAt.set(userId, at)
      return isStored
    },

    /** @returns whether the user has repeated the status since */
    forget(userId: string): boolean {
      stored.delete(userId)
      return repeated.delete(userId)
    },

    /** Forgets what is stored. @returns the users who have repeated their status since */
    clear(): string[] {
      stored.clear()
      const userIds = [...repeated]
      repeated.clear()
      return userIds
    },

    userIds: () => [...statusAt.keys()],

    dropLapsed(now: Micros, isPresent: (userId: string) => boolean): void {
      for (const [userId, at] of statusAt)
        if ((hasLapsed(at, now) || isAhead(at, now)) && !isPresent(userId)) statusAt.delete(userId)
    },
  }
}
