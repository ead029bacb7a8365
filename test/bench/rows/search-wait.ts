import { setTimeout as delay } from 'node:timers/promises'
import { createFailure } from '../load/failure.ts'
import { postSteadily } from '../load/steady.ts'
import { postTemplate } from '../load/template.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { onPostgres, onSqlite, postgresMissing, type WithDatabases } from '../servers/databases.ts'
import { type Service, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

/** So many that the index takes several batches a second. */
const POSTS_PER_SECOND = 300

/** How much longer the slowest post takes while the index takes the others, than without search. */
function waitForIndex(
  { suffix, on }: { suffix: string; on: string },
  withDatabases: WithDatabases,
  unavailable?: () => string | undefined,
): Row {
  return {
    name: `search-wait${suffix}`,
    title: `how much longer the slowest of ${POSTS_PER_SECOND} posts a second takes than without search${on}`,
    unit: 'ms',
    better: 'lower',
    reach: 20,
    beyond: 10,
    ...(unavailable && { unavailable }),
    measure: ({ rounds, seconds, command }) =>
      withDatabases(async (create) => {
        const [searched, plain] = [await create(), await create()]
        const without = startService(command, { CHAT_SEARCH__ENABLED: 'false' }, plain)
        return withServers(startService(command, {}, searched), without, async (service, peer) => {
          const pairs = await interleaveWarm(
            rounds,
            () => slowestPost(service, seconds),
            () => slowestPost(peer, seconds),
          )
          return pairs.map((pair) => ({ service: Math.max(0, pair.service - pair.peer) }))
        })
      }),
  }
}

async function slowestPost({ port, rootId, headers }: Service, seconds: number): Promise<number> {
  const { fail, or } = createFailure()
  let slowest = 0
  const posts = postSteadily(
    { port, post: postTemplate(`/api/messages/${rootId}/reply`, headers) },
    POSTS_PER_SECOND,
    fail,
    (_, ms) => {
      slowest = Math.max(slowest, ms)
    },
  )
  try {
    await or(delay(seconds * 1000))
    await or(posts.stop())
    return slowest
  } finally {
    posts.close()
  }
}

export const searchWait = [
  waitForIndex({ suffix: '', on: '' }, onSqlite),
  waitForIndex({ suffix: '-pg', on: ', on PostgreSQL' }, onPostgres, postgresMissing),
]
