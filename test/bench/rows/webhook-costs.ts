import { setTimeout as sleep } from 'node:timers/promises'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import type { Database, Queries } from '../../../lib/storage/database.ts'
import { cpuSeconds, residentBytes } from '../machine.ts'
import { progress } from '../report.ts'
import { type Bench, interleaveWarm, type Round, type Row } from '../row.ts'
import { DATABASES } from '../servers/each-database.ts'
import { startNodePoster } from '../servers/peers.ts'
import { addReplies, createPeople, withChat } from '../servers/people.ts'
import { addIdleWebhooks, addWebhooks, positionOf, replay, startReceiver } from '../servers/receiver.ts'
import { startBareService, urlOf } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

/** The events that a webhook is sent again and again, and the calls at a time. */
const EVENTS = 2_000
const PARALLEL = 16

/** The last results are stored after the last call. */
const SETTLE_MS = 500

/** How long all calls may take. */
const CALLS_MS = 60_000

const WEBHOOKS = 1_000

/** The events behind each of many webhooks, and those for short rounds (`--quick`). */
const BEHIND = 100_000
const QUICK_BEHIND = 5_000
const QUICK_SECONDS = 1

/** How long a service with much to send runs before its memory is read. */
const FILL_MS = 10_000

/** A process after its start: what it begins with is over. */
const START_MS = 3_000

const MAX_ROUNDS = 3

/** Posts replies. @returns the position before them */
async function addEvents(database: string, count: number): Promise<string> {
  const { people, places } = await createPeople(database, 1, [[0]])
  const since = await withChat(database, (chat) => positionOf(chat, people[0]!.user_id))
  await addReplies(database, people[0]!, places[0]!, count)
  return since
}

/** Counts what arrives, and resolves when so much has. */
function createCounter() {
  const state = { count: 0, body: '' }
  return {
    state,
    received(body: string): void {
      state.count++
      state.body = body
    },
    async reach(count: number): Promise<void> {
      for (const end = performance.now() + CALLS_MS; state.count < count; await sleep(5))
        if (performance.now() > end) throw new Error(`${count - state.count} of ${count} events were not sent`)
      if (state.count > count) throw new Error('an event was sent twice')
    },
  }
}

const micros = (pids: number[]) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0) * 1e6

/** What a call of a webhook costs beside a bare one with the same body. */
const callCpu: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `webhook-cpu${suffix}`,
  title: `CPU of an event that a webhook is sent, of ${EVENTS.toLocaleString('en-US')} in the log${on}`,
  unit: 'µs',
  peer: 'a bare post of node:http',
  better: 'lower',
  reach: 1.5,
  beyond: 1.2,
  unavailable,
  measure: ({ rounds, command }) =>
    open(async (database, pids) => {
      const counter = createCounter()
      const receiver = await startReceiver(counter.received)
      try {
        const since = await addEvents(database, EVENTS)
        const [id] = await addWebhooks(database, receiver.url, 1, { parallel: PARALLEL })
        const starting = startBareService(command, database, receiver.env)
        const peer = startNodePoster(receiver.url, PARALLEL)
        return await withServers(starting, peer, async (service, poster) => {
          const time = async (processes: number[], send: () => Promise<unknown>) => {
            counter.state.count = 0
            const before = micros(processes)
            await send()
            await counter.reach(EVENTS)
            await sleep(SETTLE_MS)
            return (micros(processes) - before) / EVENTS
          }
          return interleaveWarm(
            rounds,
            () => time([service.pid, ...pids], () => replay(database, receiver.url, id!, since)),
            () => time([poster.pid], () => postBare(poster.port, counter.state.body)),
          )
        })
      } finally {
        receiver.close()
      }
    }),
}))

async function postBare(port: number, body: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/?count=${EVENTS}`, { method: 'POST', body })
  if (!answer.ok) throw new Error(`the bare posts were answered ${answer.status}`)
  await answer.text()
}

/** A service in this process, and the statements that it has run. */
async function startCounted(database: string) {
  const storage = await openStorage({ database: urlOf(database) })
  const state = { statements: 0 }
  const queriesOf = <T extends Queries>(queries: T): T => {
    const counted = { ...queries }
    for (const name of ['all', 'get', 'run'] as const) {
      const call = queries[name] as (...parameters: unknown[]) => unknown
      Object.assign(counted, {
        [name]: (...parameters: unknown[]) => {
          state.statements++
          return call(...parameters)
        },
      })
    }
    return counted
  }
  const db: Database = {
    ...queriesOf(storage.db),
    snapshot: (read, options) => storage.db.snapshot((queries) => read(queriesOf(queries)), options),
    write: (work, options) => storage.db.write((tx) => work(queriesOf(tx)), options),
  }
  const config = { webhooks: { enabled: true }, security: { password: { bcrypt_cost: 4 } } }
  const chat = createChatService(parseConfig(config), { ...storage, db })
  await chat.start()
  return { chat, state }
}

/** Statements a second of an idle service. */
async function idleStatements(database: string, seconds: number): Promise<number> {
  const { chat, state } = await startCounted(database)
  try {
    await sleep(START_MS)
    const before = state.statements
    await sleep(seconds * 1000)
    return (state.statements - before) / seconds
  } finally {
    await chat.close()
  }
}

/** Intervals of seconds fall into a round, or do not. */
const LEAST_IDLE_SECONDS = 10

const idle: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `webhooks-idle${suffix}`,
  title: `statements of a service with ${WEBHOOKS.toLocaleString('en-US')} idle webhooks, beyond those of one without${on}`,
  unit: '/s',
  better: 'lower',
  reach: 1,
  beyond: 0.5,
  unavailable,
  measure: ({ rounds, seconds }) =>
    open((database) =>
      open(async (other) => {
        for (const each of [database, other]) await createPeople(each, 1, [])
        await addIdleWebhooks(database, WEBHOOKS)
        const length = Math.max(seconds, LEAST_IDLE_SECONDS)
        const results: Round[] = []
        for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
          const [most, least] = await Promise.all([database, other].map((each) => idleStatements(each, length)))
          results.push({ service: Math.max(0, most! - least!) })
        }
        return results
      }),
    ),
}))

/** The most memory of a service while it runs, in bytes. */
async function memoryOf(command: string[], database: string, env: NodeJS.ProcessEnv): Promise<number> {
  const service = await startBareService(command, database, env)
  try {
    let most = 0
    for (const end = performance.now() + FILL_MS; performance.now() < end; await sleep(100))
      most = Math.max(most, residentBytes(service.pid))
    return most
  } finally {
    await service.stop()
  }
}

const memory: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `webhooks-memory${suffix}`,
  title: `memory of ${WEBHOOKS.toLocaleString('en-US')} webhooks whose receivers hang, with ${BEHIND.toLocaleString('en-US')} events behind each${on}`,
  unit: 'MiB',
  better: 'lower',
  reach: 32,
  beyond: 16,
  unavailable,
  measure: ({ rounds, seconds, command }: Bench) =>
    open(async (database) => {
      const receiver = await startReceiver(() => {}, { hangs: true })
      try {
        const behind = seconds > QUICK_SECONDS ? BEHIND : QUICK_BEHIND
        if (behind < BEHIND) progress(`  with ${behind.toLocaleString('en-US')} events only`)
        const { people, places } = await createPeople(database, 1, [[0]])
        await addWebhooks(database, receiver.url, WEBHOOKS)
        await addReplies(database, people[0]!, places[0]!, behind)
        const results: Round[] = []
        for (let round = 0; round < Math.min(rounds, MAX_ROUNDS); round++) {
          const without = await memoryOf(command, database, { ...receiver.env, CHAT_WEBHOOKS__ENABLED: 'false' })
          const most = await memoryOf(command, database, receiver.env)
          results.push({ service: Math.max(0, most - without) / 2 ** 20 })
        }
        return results
      } finally {
        receiver.close()
      }
    }),
}))

/** What the sending of events costs a service. */
export const webhookCosts: Row[] = [...callCpu, ...idle, ...memory]
