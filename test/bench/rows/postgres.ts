import { startCluster } from '../../support/postgres.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros, type Measured, perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { processFiguresMissing } from '../machine.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { createThreads, type Service, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const UNDER_WAY = 32

/** Durable posts on PostgreSQL beside the same posts on SQLite, without a reader. */
function postsOnPostgres(
  row: Pick<Row, 'name' | 'title' | 'unit' | 'better' | 'reach' | 'beyond' | 'unavailable'>,
  conversations: number,
  figure: (measured: Measured) => number,
): Row {
  return {
    ...row,
    peer: 'the same on SQLite',
    async measure({ rounds, seconds, command }) {
      const cluster = await startCluster()
      if (!cluster) throw new Error('PostgreSQL is not installed')
      try {
        const onPostgres = startService(command, {}, cluster.url)
        return await withServers(onPostgres, startService(command), async (postgres, sqlite) => {
          const targets = [await target(postgres, conversations), await target(sqlite, conversations)] as const
          const measure = async (index: 0 | 1) => figure(await repeatRequest(targets[index], UNDER_WAY, seconds))
          return interleaveWarm(
            rounds,
            () => measure(0),
            () => measure(1),
          )
        })
      } finally {
        await cluster.stop()
      }
    },
  }
}

async function target(service: Service, conversations: number) {
  const roots = await createThreads(service, conversations)
  const body = { content: postContent(0) }
  const requests = roots.map((root) =>
    httpRequest('POST', `/api/messages/${root}/reply`, { headers: service.headers, body }),
  )
  return { pid: service.pid, port: service.port, requests }
}

const RATE = { unit: '/s', better: 'higher' } as const
const CPU = { unit: 'µs', better: 'lower', unavailable: processFiguresMissing } as const
const title = `durable posts on PostgreSQL, ${UNDER_WAY} under way`

export const postsPg32 = postsOnPostgres(
  { name: 'posts-pg-32', title: `${title} in 100 conversations`, ...RATE, reach: 0.6, beyond: 0.9 },
  100,
  perSecond,
)

export const postsPg32Cpu = postsOnPostgres(
  { name: 'posts-pg-32-cpu', title: `CPU of the service per post, ${title}`, ...CPU, reach: 1.5, beyond: 1.2 },
  100,
  cpuMicros,
)

export const postsPg32One = postsOnPostgres(
  { name: 'posts-pg-32-one', title: `${title} in one conversation`, ...RATE, reach: 0.4, beyond: 0.8 },
  1,
  perSecond,
)
