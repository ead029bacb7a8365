import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import { announceUsers } from './announce-users.ts'
import { hasEnded, ownPlace, toPlace } from './process-place.ts'
import { listPlaces, removeNode } from './store.ts'

/** The maximum number of processes that are checked. */
const MAX_NODES = 1_000

interface EndedDeps {
  db: Database
  config: { cluster: Pick<Config['cluster'], 'instance'> }
  log: Log
}

/**
 * Removes the processes of this machine that have ended without a stop, before their report is overdue: their streams no
 * longer count. One that still runs adds its row again. It never rejects.
 *
 * @returns the users with a stream there
 */
export async function removeEnded(id: string, { db, config, log }: EndedDeps): Promise<string[]> {
  const own = ownPlace(config.cluster.instance)
  const users = new Set<string>()
  try {
    for (const node of await listPlaces(db, id, MAX_NODES)) {
      const place = toPlace(node.place)
      if (!place || !hasEnded(place, own)) continue
      await removeNode(db, node.id, async (tx, userIds) => {
        await announceUsers(tx, id, userIds)
        for (const userId of userIds) users.add(userId)
      })
    }
  } catch (error) {
    // They are removed a little later, when their reports are overdue.
    log.debug('Processes of this machine that have ended could not be removed', { cause: causeText(error) })
  }
  return [...users]
}
