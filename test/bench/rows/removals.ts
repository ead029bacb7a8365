import { setTimeout as delay } from 'node:timers/promises'
import { progress } from '../report.ts'
import { type Bench, oncePerBench, type Row } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { ACCOUNT, signIn, startBareService } from '../servers/service.ts'
import { fillThreads, inRoom, THREAD } from './reads.ts'

const MESSAGES = 1_000_000

/** The number of messages for short rounds (`--quick`). */
const QUICK_MESSAGES = 5_000
const QUICK_SECONDS = 1

/** The pause between two calls of one kind. */
const PROBE_MS = 2

/** The calls that are not counted at first: the service compiles what it runs. */
const WARM_UP_MS = 1_500

/** The maximum delay of other requests during one removal, and without it. */
interface Removal {
  slowest: number
  control: number
  per_second: number
}

const WHILE = `slowest of GET /healthz, GET me and a post while a conversation of ${MESSAGES.toLocaleString('en-US')} messages`

/** The maximum delay of other requests by a removal. */
export const removal: Row = {
  name: 'removal',
  title: `${WHILE} is removed`,
  unit: 'ms',
  better: 'lower',
  reach: 50,
  beyond: 25,
  measure: async (bench) => [{ service: (await measured(bench)).slowest }],
}

/** What the same calls take at most on this machine, in as long a time. */
export const removalControl: Row = {
  name: 'removal-control',
  title: `${WHILE} is left alone`,
  unit: 'ms',
  better: 'lower',
  reach: 50,
  beyond: 25,
  measure: async (bench) => [{ service: (await measured(bench)).control }],
}

/** How fast it goes beside those calls. */
export const removalRate: Row = {
  name: 'removal-rate',
  title: 'messages of a deleted conversation removed, beside other calls',
  unit: '/s',
  better: 'higher',
  reach: 2_000,
  beyond: 5_000,
  measure: async (bench) => [{ service: (await measured(bench)).per_second }],
}

/** The rows show different sides of one removal: filling the database takes longest. */
const measured = oncePerBench(measure)

function measure({ command, seconds }: Bench): Promise<Removal> {
  const messages = seconds > QUICK_SECONDS ? MESSAGES : QUICK_MESSAGES
  if (messages < MESSAGES) progress(`  of ${messages} messages only`)
  return inRoom(async (room) => {
    await fillThreads(room, messages / THREAD)
    const { chat, author } = room
    const { conversation_id } = await chat.conversations.create(author, { title: 'Another one' })
    const { message_id } = await chat.messages.postRoot(author, conversation_id, { content: 'Root' })
    const server = await startBareService(command, room.file)
    try {
      const calls = callsOf(server, await signIn(server, ACCOUNT), message_id)
      await slowestDuring(calls, delay(WARM_UP_MS))
      const began = performance.now()
      await calls.remove(room.conversationId)
      const slowest = await slowestDuring(calls, calls.untilRemoved())
      const ms = performance.now() - began
      const control = await slowestDuring(calls, delay(ms))
      return { slowest, control, per_second: (messages * 1000) / ms }
    } finally {
      await server.stop()
    }
  })
}

type Calls = ReturnType<typeof callsOf>

function callsOf({ port }: Server, headers: Record<string, string>, rootId: string) {
  async function call(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status} ${await response.text()}`)
    return response
  }
  const get = (path: string) => call('GET', path).then((response) => response.text())
  return {
    probes: [
      () => get('/healthz'),
      () => get('/api/auth/me'),
      () => call('POST', `/api/messages/${rootId}/reply`, { content: 'And on' }).then((response) => response.text()),
    ],
    remove: (conversationId: string) => call('DELETE', `/api/conversations/${conversationId}`),
    async untilRemoved(): Promise<void> {
      while ((await get('/api/admin/tasks')).includes('conversation.remove')) await delay(50)
    },
  }
}

/** The longest that any of the calls took, made over and over until `end`. */
async function slowestDuring({ probes }: Calls, end: Promise<void>): Promise<number> {
  let isOver = false
  const ending = end.finally(() => (isOver = true))
  const slowest = await Promise.all(
    probes.map(async (probe) => {
      let longest = 0
      while (!isOver) {
        const sent = performance.now()
        await probe()
        longest = Math.max(longest, performance.now() - sent)
        await delay(PROBE_MS)
      }
      return longest
    }),
  )
  await ending
  return Math.max(...slowest)
}
