import { photosOf } from '../../accounts/users/photos.ts'
import { listVisible, toPerson } from '../../accounts/users/store-people.ts'
import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createCoalescer } from '../../core/scheduling/coalesce.ts'
import { warnOnce } from '../../core/scheduling/once.ts'
import { createPauses } from '../../core/scheduling/pauses.ts'
import type { Hub } from '../../live/hub/hub.ts'
import type { Ephemeral } from '../../live/transaction/transaction.ts'
import type { Database } from '../../storage/database.ts'
import { listMembershipsOfUsers } from '../memberships/store.ts'

/** Changes are gathered for so long; what is stored when they are sent counts. */
const GATHER_MS = 250

/** A user is sent again after this time only: at most six times a minute. The last change is sent in any case. */
const PAUSE_MS = 10_000

/** The number of users that are read in one statement. */
const BATCH = 200

/** Sends users whose names or state have changed, here or at another process, to the readers of their conversations. */
export function createUserUpdates({
  config,
  db,
  hub,
  log,
  pause_ms = PAUSE_MS,
}: {
  config: Config
  db: Database
  hub: Hub
  log: Log
  pause_ms?: number
}) {
  const changes = createCoalescer(GATHER_MS, publish)
  const pauses = createPauses<string, undefined>(pause_ms, (_, userId) => add(userId))
  const fail = warnOnce((error: unknown) => log.warn('Changed users could not be sent', { cause: causeText(error) }))

  function add(userId: string): void {
    if (pauses.hold(userId, '', undefined)) return
    pauses.begin(userId, '', undefined)
    changes.add(userId)
  }

  async function publish(userIds: string[]): Promise<void> {
    try {
      for (let start = 0; start < userIds.length && !hub.isIdle(); start += BATCH)
        await publishSome(userIds.slice(start, start + BATCH))
      fail.reset()
    } catch (error) {
      fail(error)
      for (const userId of userIds) changes.add(userId)
    }
  }

  async function publishSome(userIds: string[]): Promise<void> {
    const places = new Map<string, Set<string>>()
    for (const { user_id, conversation_id } of await listMembershipsOfUsers(db, userIds)) {
      if (!hub.hasReaders(conversation_id)) continue
      const ids = places.get(user_id)
      if (ids) ids.add(conversation_id)
      else places.set(user_id, new Set([conversation_id]))
    }
    const photos = photosOf(config)
    for (const row of await listVisible(db, { user_id: '', seesAll: true }, places.keys()))
      hub.publishAbout(places.get(row.id)!, { type: 'user.updated', payload: { user: toPerson(row, photos) } })
  }

  return {
    /** Takes the users from events of a commit, or of another process. */
    note(events: readonly Ephemeral[]): void {
      for (const { conversation_id, event } of events)
        if (event.type === 'user.updated' && conversation_id === '') add(event.payload.user.id)
    },
    async close(): Promise<void> {
      pauses.close()
      await changes.close()
    },
  }
}
