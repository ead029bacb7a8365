import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createGathering } from '../../core/gather.ts'
import { warnOnce } from '../../core/once.ts'
import type { Hub } from '../../live/hub.ts'
import type { Presence } from '../conversations/schema.ts'
import type { Audience } from './audience.ts'

/** Changes are gathered for so long; the last of each user counts. */
const GATHER_MS = 250

const NONE: ReadonlySet<string> = new Set()

/**
 * Publishes the status of users whose status has changed, all changes of a moment together.
 *
 * @param deps.findAll the presence of users at present
 */
export function createPublishing(deps: {
  hub: Hub
  log: Log
  audience: Audience
  findAll: (userIds: readonly string[]) => Promise<Map<string, Presence>>
}) {
  const { hub, log, audience, findAll } = deps
  const published = createPublishedStatus()
  const changes = createGathering(GATHER_MS, publish)
  const fail = warnOnce((error: unknown) => log.warn('Presence could not be sent', { cause: causeText(error) }))

  async function publish(userIds: string[]): Promise<void> {
    try {
      const presences = await findAll(userIds)
      const changed = [...presences].filter(([userId, { status }]) => !published.is(userId, status))
      const shared = await audience.findAll(changed.map(([userId]) => userId))
      for (const [user_id, presence] of changed) {
        published.set(user_id, presence.status)
        const event = { type: 'presence.update' as const, payload: { user_id, ...presence } }
        hub.publishAbout(shared.get(user_id) ?? NONE, event)
      }
      fail.reset()
    } catch (error) {
      fail(error)
      for (const userId of userIds) changes.add(userId)
    }
  }

  return { ...changes, publishedUserIds: published.userIds }
}

/** The last published status of each user; offline users, the majority, have no entry. */
function createPublishedStatus() {
  const published = new Map<string, Presence['status']>()
  return {
    is: (userId: string, status: Presence['status']) => (published.get(userId) ?? 'offline') === status,
    set(userId: string, status: Presence['status']): void {
      if (status === 'offline') published.delete(userId)
      else published.set(userId, status)
    },
    userIds: () => [...published.keys()],
  }
}
