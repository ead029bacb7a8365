import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { interleaveWarm, type Row } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { DATABASES } from '../servers/each-database.ts'
import { startNodeJson } from '../servers/peers.ts'
import { type Service, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const CONNECTIONS = 64

/** What the CPU of the server, and of its database, spends on one request, beside bare node:http. */
function requestCpu(
  row: Pick<Row, 'name' | 'title' | 'reach' | 'beyond'>,
  requests: {
    service: (service: Service) => string
    peer: string
  },
): Row[] {
  return DATABASES.map(({ suffix, on, unavailable, open }) => ({
    ...row,
    name: row.name + suffix,
    title: row.title + on,
    unit: 'µs',
    peer: 'node:http',
    better: 'lower',
    unavailable,
    measure: ({ rounds, seconds, command }) =>
      open((database, pids) =>
        withServers(startService(command, {}, database), startNodeJson(), (service, peer) => {
          const repeat = async ({ port }: Server, pid: number[], request: string) =>
            cpuMicros(await repeatRequest({ pid, port, requests: [request] }, CONNECTIONS, seconds))
          return interleaveWarm(
            rounds,
            () => repeat(service, [service.pid, ...pids], requests.service(service)),
            () => repeat(peer, [peer.pid], requests.peer),
          )
        }),
      ),
  }))
}

const body = { content: postContent(0) }

export const me = requestCpu(
  { name: 'me', title: 'CPU of GET /api/auth/me, signed in', reach: 2.5, beyond: 1.8 },
  {
    service: ({ headers }) => httpRequest('GET', '/api/auth/me', { headers }),
    peer: httpRequest('GET', '/me'),
  },
)

export const durablePost = requestCpu(
  { name: 'durable-post', title: `CPU per durable post, ${CONNECTIONS} connections, no reader`, reach: 8, beyond: 5 },
  {
    service: ({ headers, rootId }) => httpRequest('POST', `/api/messages/${rootId}/reply`, { headers, body }),
    peer: httpRequest('POST', '/messages', { body }),
  },
)

export const rootPlain = requestCpu(
  {
    name: 'root-plain',
    title: `CPU per post that begins a thread, ${CONNECTIONS} connections, no reader`,
    reach: 9,
    beyond: 6,
  },
  {
    service: ({ headers, conversationId }) =>
      httpRequest('POST', `/api/threads/${conversationId}/root`, { headers, body }),
    peer: httpRequest('POST', '/messages', { body }),
  },
)
