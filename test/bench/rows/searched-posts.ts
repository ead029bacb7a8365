import { httpRequest } from '../load/http.ts'
import { perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { onPostgres, onSqlite, postgresMissing, type WithDatabases } from '../servers/databases.ts'
import { createThreads, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const UNDER_WAY = 32
const CONVERSATIONS = 100

/** Posts that search finds at once, against posts without search. */
function searchedPosts(row: Pick<Row, 'name' | 'title' | 'reach' | 'unavailable'>, withDatabases: WithDatabases): Row {
  return {
    ...row,
    unit: '/s',
    peer: 'the same without search',
    better: 'higher',
    beyond: 0.95,
    measure: ({ rounds, seconds, command }) =>
      withDatabases(async (create) => {
        const [searched, plain] = [await create(), await create()]
        const without = startService(command, { CHAT_SEARCH__ENABLED: 'false' }, plain)
        return withServers(startService(command, {}, searched), without, async (...services) => {
          const targets = await Promise.all(
            services.map(async (service) => {
              const roots = await createThreads(service, CONVERSATIONS)
              const requests = roots.map((root, n) =>
                httpRequest('POST', `/api/messages/${root}/reply`, {
                  headers: service.headers,
                  body: { content: postContent(n) },
                }),
              )
              return { pid: service.pid, port: service.port, requests }
            }),
          )
          const measure = async (index: number) => perSecond(await repeatRequest(targets[index]!, UNDER_WAY, seconds))
          return interleaveWarm(
            rounds,
            () => measure(0),
            () => measure(1),
          )
        })
      }),
  }
}

const title = `posts that search finds, ${UNDER_WAY} under way in ${CONVERSATIONS} conversations`

export const postsSearched = [
  searchedPosts({ name: 'posts-searched', title, reach: 0.9 }, onSqlite),
  searchedPosts(
    { name: 'posts-searched-pg', title: `${title}, on PostgreSQL`, reach: 0.8, unavailable: postgresMissing },
    onPostgres,
  ),
]
