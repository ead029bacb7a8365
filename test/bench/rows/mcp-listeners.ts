import { META, MODERN } from '../../../lib/mcp/protocol.ts'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { openEach, type Step } from '../load/reader.ts'
import { repeatRequest } from '../load/requests.ts'
import { connectionsMissing } from '../machine.ts'
import { interleaveWarm, type Row, roundsOf } from '../row.ts'
import { onEachDatabase, type Running } from '../servers/each-database.ts'
import { createPeople, type Place, withChat } from '../servers/people.ts'
import { singleStream } from './many-streams.ts'

const LISTENERS = 1_000

/** Posts to a conversation to which agents listen: they are told no more than once a second, people get each post. */
export const mcpListenPost: Row[] = onEachDatabase(
  async (database, { rounds, seconds }) => {
    const { people, places } = await createPeople(database, 1, [[0]])
    const [person, place] = [people[0]!, places[0]!]
    const key = await withChat(database, async (chat) => {
      const actor = await chat.users.actor(person.user_id)
      return (await chat.keys.create(actor, { name: 'agent' })).key
    })
    const path = `/api/messages/${place.root_id}/reply`
    const post = httpRequest('POST', path, { headers: person.headers, body: { content: 'Next' } })
    return async (service) => {
      const send = () => repeatRequest({ ...service, requests: [post] }, 16, seconds)
      const pairs = await interleaveWarm(
        rounds,
        () => whileOpen(service, listenSteps(key, place), send),
        () => whileOpen(service, singleStream(person, place), send),
      )
      return roundsOf(pairs, cpuMicros)
    }
  },
  { CHAT_FEATURES__MCP: 'true' },
).map(({ suffix, on, unavailable, measure }) => ({
  name: `mcp-listen-post${suffix}`,
  title: `CPU of a post while ${LISTENERS} clients of MCP listen to its conversation${on}`,
  peer: 'as many streams of it',
  unit: 'µs',
  better: 'lower',
  reach: 1.5,
  beyond: 1,
  unavailable: (bench) => unavailable(bench) ?? connectionsMissing(LISTENERS),
  measure,
}))

/** Does work while streams are open. */
async function whileOpen<T>({ port }: Running, steps: Step[], work: () => Promise<T>): Promise<T> {
  const { fail, or } = createFailure()
  const streams = await or(openEach(port, Array(LISTENERS).fill(steps), { marker() {}, lost: fail }))
  try {
    return await or(work())
  } finally {
    for (const { socket } of streams) socket.destroy()
  }
}

function listenSteps(key: string, { conversation_id }: Place): Step[] {
  const method = 'subscriptions/listen'
  const send = httpRequest('POST', '/mcp', {
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        notifications: { resourceSubscriptions: [`chat://conversations/${conversation_id}`] },
        _meta: { [META.version]: MODERN, [META.capabilities]: {} },
      },
    },
  })
  return [{ send, until: conversation_id }]
}
