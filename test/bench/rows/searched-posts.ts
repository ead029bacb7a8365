import { httpRequest } from '../load/http.ts'
import { cpuMicros, type Measured, perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { onPostgres, onSqlite, postgresMissing, type WithDatabases } from '../servers/databases.ts'
import { createThreads, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const UNDER_WAY = 32
const CONVERSATIONS = 100

/** What is compared: by default, how many posts there are a second. */
interface Figure {
  unit?: string
  better?: Row['better']
  figure?: (measured: Measured) => number
}

/** Posts that search finds at once, against posts without search. */
function searchedPosts(
  row: Pick<Row, 'name' | 'title' | 'reach' | 'beyond' | 'unavailable'>,
  withDatabases: WithDatabases,
  { unit = '/s', better = 'higher', figure = perSecond }: Figure = {},
): Row {
  return {
    ...row,
    unit,
    peer: 'the same without search',
    better,
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
          const measure = async (index: number) => figure(await repeatRequest(targets[index]!, UNDER_WAY, seconds))
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
  searchedPosts({ name: 'posts-searched', title, reach: 0.9, beyond: 0.95 }, onSqlite),
  searchedPosts(
    {
      name: 'posts-searched-pg',
      title: `${title}, on PostgreSQL`,
      reach: 0.8,
      beyond: 0.95,
      unavailable: postgresMissing,
    },
    onPostgres,
  ),
  searchedPosts({ name: 'search-cpu', title: `CPU of ${title}`, reach: 1.1, beyond: 1.05 }, onSqlite, {
    unit: 'µs',
    better: 'lower',
    figure: (measured) => cpuMicros(measured),
  }),
]
