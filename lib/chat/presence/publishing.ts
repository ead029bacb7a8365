import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createCoalescer } from '../../core/scheduling/coalesce.ts'
import { warnOnce } from '../../core/scheduling/once.ts'
import type { Hub } from '../../live/hub/hub.ts'
import type { Presence } from '../conversations/schema.ts'
import type { Audience } from './audience.ts'
import type { Lookup } from './lookup.ts'

/** Changes are gathered for so long; the last of each user counts. */
const GATHER_MS = 250

const NONE: ReadonlySet<string> = new Set()

/**
 * Publishes the status of users whose status has changed, all changes of a moment together.
 *
 * @param deps.store stores what has changed in this process; returns the users whose presence may differ by it
 * @param deps.announce sends these users to other processes
 */
export function createPublishing(deps: {
  hub: Hub
  log: Log
  audience: Audience
  find: Lookup['findWithStreams']
  store: () => Promise<string[]>
  announce: (userIds: string[]) => void
}) {
  const { hub, log, audience, find, store, announce } = deps
  const published = createPublishedStatus()
  // Other processes would notice these at their own sweeps only, seconds later.
  const swept = new Set<string>()
  const changes = createCoalescer(GATHER_MS, publish)
  const fail = warnOnce((error: unknown) => log.warn('Presence could not be sent', { cause: causeText(error) }))

  async function publish(userIds: string[]): Promise<void> {
    try {
      announce(await store())
      const presences = await find(userIds)
      const changed = [...presences].filter(([userId, { presence }]) => !published.is(userId, presence.status))
      const shared = await audience.findAll(changed.map(([userId]) => userId))
      for (const [userId, { presence, is_here }] of presences) published.set(userId, presence.status, is_here)
      for (const [user_id, { presence }] of changed) {
        const event = { type: 'presence.update' as const, payload: { user_id, ...presence } }
        hub.publishAbout(shared.get(user_id) ?? NONE, event)
      }
      announce(changed.flatMap(([userId]) => (swept.has(userId) ? userId : [])))
      for (const userId of userIds) swept.delete(userId)
      fail.reset()
    } catch (error) {
      fail(error)
      for (const userId of userIds) changes.add(userId)
    }
  }

  return {
    ...changes,
    publishedUserIds: published.userIds,
    /** Whether a user is published as anything but offline. */
    isPresent: published.isPresent,
    /** Adds the users whose status ends without an event. If it has ended, other processes get it, too. */
    expire(): void {
      for (const userId of published.mayExpire()) {
        swept.add(userId)
        changes.add(userId)
      }
    },
  }
}

/** The last published status of each user; offline users, the majority, have no entry. */
function createPublishedStatus() {
  const published = new Map<string, Presence['status']>()
  const expiring = new Set<string>()
  return {
    is: (userId: string, status: Presence['status']) => (published.get(userId) ?? 'offline') === status,
    set(userId: string, status: Presence['status'], isHere: boolean): void {
      if (status === 'offline') published.delete(userId)
      else published.set(userId, status)
      if (status === 'offline' || isHere) expiring.delete(userId)
      else expiring.add(userId)
    },
    userIds: () => [...published.keys()],
    isPresent: (userId: string) => published.has(userId),
    mayExpire: () => [...expiring],
  }
}
