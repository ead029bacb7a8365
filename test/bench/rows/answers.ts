import { clientsFor, whileAnswering } from '../load/answers.ts'
import { httpRequest } from '../load/http.ts'
import { p99, timeRequest } from '../load/latency.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { startModel } from '../servers/peers.ts'
import { type Service, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

/** The answers of `peers/model.ts`, with a few concurrent readers. */
const LOAD = { answers: 20, tokens: 100, readers: 5 }

/** Whether others have to wait while the service does what comes in between their requests. */
export const answersMe: Row = {
  name: 'answers-me',
  title: `p99 of GET /api/auth/me while ${LOAD.answers} answers stream ${LOAD.tokens} tokens a second each`,
  unit: 'ms',
  peer: 'the same without answers',
  better: 'lower',
  reach: 5,
  beyond: 2,
  measure({ rounds, seconds, command }) {
    const model = startModel()
    const answering = model.then(({ port }) => startService(command, assistantAt(port)))
    return withServers(answering, model, async (service) => {
      const clients = await clientsFor(service, LOAD.answers)
      const time = async () => p99(await timeRequest({ port: service.port, request: me(service) }, seconds))
      return interleaveWarm(rounds, () => whileAnswering(service, clients, LOAD, time), time)
    })
  },
}

function me({ headers }: Service): string {
  return httpRequest('GET', '/api/auth/me', { headers })
}

/** The environment of a service whose assistant asks the model server at a port. */
export function assistantAt(port: number): NodeJS.ProcessEnv {
  return {
    CHAT_ASSISTANT__PROVIDER: 'openai',
    CHAT_ASSISTANT__BASE_URL: `http://127.0.0.1:${port}/v1`,
    CHAT_ASSISTANT__MODEL: 'bench',
  }
}
