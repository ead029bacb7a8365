import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { META, MODERN } from '../../../lib/mcp/protocol.ts'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { openSocket } from '../load/socket.ts'
import { connectionsMissing, cpuSeconds, processFiguresMissing, residentBytes } from '../machine.ts'
import { interleaveWarm, type Row, roundsOf } from '../row.ts'
import { onEachDatabase, type Running } from '../servers/each-database.ts'
import { createPeople, withChat } from '../servers/people.ts'
import { newDatabase, startBareService } from '../servers/service.ts'

const CALLS = 1_000

/** Opened before the first look, so that what any call needs is not charged to the others. */
const WARM_UP_CALLS = 100

/** The calls wait, and those that have left are forgotten, once the service has done next to nothing for so long. */
const QUIET_MS = 1_000
const QUIET_SHARE = 0.1

const ENVIRONMENT = { CHAT_FEATURES__MCP: 'true' }

/** An agent that waits in a conversation, and a person who posts to another one. @returns the call, and the post */
async function prepare(database: string): Promise<{ wait: string; post: string }> {
  const { people, places } = await createPeople(database, 2, [[0], [1]])
  const key = await withChat(database, async (chat) => {
    const actor = await chat.users.actor(people[0]!.user_id)
    return (await chat.keys.create(actor, { name: 'agent' })).key
  })
  const authorization = `Bearer ${key}`
  const name = 'wait_for_messages'
  const wait = httpRequest('POST', '/mcp', {
    headers: {
      authorization,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: { conversation_id: places[0]!.conversation_id, after: 'now', seconds: 55 },
        _meta: { [META.version]: MODERN, [META.capabilities]: {} },
      },
    },
  })
  const path = `/api/messages/${places[1]!.root_id}/reply`
  return { wait, post: httpRequest('POST', path, { headers: people[1]!.headers, body: { content: 'Next' } }) }
}

/** Begins calls, which then wait. Their sockets are closed by the caller. */
async function beginCalls(
  { port, pid, wait, count }: Running & { wait: string; count: number },
  { fail, or }: ReturnType<typeof createFailure>,
): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () =>
    openSocket(port, {
      bytes(bytes) {
        const text = bytes.toString('latin1')
        // Comments keep the connection open; a result, or a refusal, is the end of a call.
        if (/^HTTP\/1\.1 [^2]/.test(text) || text.includes('"jsonrpc"')) fail(new Error(`a call has ended: ${text}`))
      },
      lost: fail,
    }),
  )
  for (const socket of sockets) socket.write(wait, 'latin1')
  await or(untilQuiet(pid))
  return sockets
}

async function untilQuiet(pids: number[]): Promise<void> {
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  for (let before = used(); ; ) {
    await sleep(QUIET_MS)
    const after = used()
    if (after - before < (QUIET_SHARE * QUIET_MS) / 1000) return
    before = after
  }
}

export const mcpWaitMemory: Row = {
  name: 'mcp-wait-memory',
  title: `resident memory per call of wait_for_messages of MCP, ${CALLS} waiting`,
  unit: 'KiB',
  better: 'lower',
  reach: 64,
  beyond: 20,
  unavailable: () => processFiguresMissing() ?? connectionsMissing(CALLS),
  async measure({ rounds, command }) {
    const measured = []
    for (let n = 0; n < Math.min(rounds, 3); n++) {
      const database = newDatabase()
      const { wait } = await prepare(database)
      const server = await startBareService(command, database, ENVIRONMENT)
      const failure = createFailure()
      const sockets: Socket[] = []
      const begin = async (count: number) => {
        sockets.push(...(await beginCalls({ port: server.port, pid: [server.pid], wait, count }, failure)))
        return residentBytes(server.pid)
      }
      try {
        const before = await begin(WARM_UP_CALLS)
        measured.push({ service: ((await begin(CALLS)) - before) / CALLS / 1024 })
      } finally {
        for (const socket of sockets) socket.destroy()
        await server.stop()
      }
    }
    return measured
  },
}

/** What a post costs must not depend on the calls that it does not wake. */
export const mcpWaitPost: Row[] = onEachDatabase(async (database, { rounds, seconds }) => {
  const { wait, post } = await prepare(database)
  return async (service) => {
    const send = () => repeatRequest({ ...service, requests: [post] }, 16, seconds)
    const pairs = await interleaveWarm(rounds, () => whileWaiting(service, wait, send), send)
    return roundsOf(pairs, cpuMicros)
  }
}, ENVIRONMENT).map(({ suffix, on, ...measured }) => ({
  name: `mcp-wait-post${suffix}`,
  title: `CPU of a post while ${CALLS} calls of wait_for_messages of MCP wait in another conversation${on}`,
  peer: 'the same without them',
  unit: 'µs',
  better: 'lower',
  reach: 1.2,
  beyond: 1.02,
  ...measured,
}))

/** Does work while calls wait. What they cost before and after is not measured. */
async function whileWaiting<T>(service: Running, wait: string, work: () => Promise<T>): Promise<T> {
  const failure = createFailure()
  const sockets = await beginCalls({ ...service, wait, count: CALLS }, failure)
  try {
    return await failure.or(work())
  } finally {
    for (const socket of sockets) socket.destroy()
    await untilQuiet(service.pid)
  }
}
