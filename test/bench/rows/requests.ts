import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { processFiguresMissing } from '../machine.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { startNodeJson } from '../servers/peers.ts'
import { type Service, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const CONNECTIONS = 64

/** What the server's CPU spends on one request, beside bare node:http. */
function requestCpu(
  row: Pick<Row, 'name' | 'title' | 'reach' | 'beyond'>,
  requests: {
    service: (service: Service) => string
    peer: string
  },
): Row {
  return {
    ...row,
    unit: 'µs',
    peer: 'node:http',
    better: 'lower',
    unavailable: processFiguresMissing,
    measure: ({ rounds, seconds, command }) =>
      withServers(startService(command), startNodeJson(), (service, peer) =>
        interleaveWarm(
          rounds,
          async () => {
            const target = { pid: service.pid, port: service.port, requests: [requests.service(service)] }
            return cpuMicros(await repeatRequest(target, CONNECTIONS, seconds))
          },
          async () => {
            const target = { pid: peer.pid, port: peer.port, requests: [requests.peer] }
            return cpuMicros(await repeatRequest(target, CONNECTIONS, seconds))
          },
        ),
      ),
  }
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
