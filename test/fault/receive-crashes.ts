import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChatClient, createChatClient } from '../../lib/client/index.ts'
import { openStore } from '../receive/stores.ts'
import { freePort } from '../support/free-port.ts'
import { programArgs } from '../support/programs.ts'
import { type LossyProxy, startLossyProxy } from './lossy-proxy.ts'
import { settle } from './people.ts'
import { startProcess } from './process.ts'

/** How a receiver gets its events: it asks for them, is called, or both. */
export type ReceiveMode = 'pull' | 'push' | 'both'

/** A service and a receiver that are killed in turn. */
export interface ReceiveOptions {
  mode: ReceiveMode
  /** Empty databases. */
  service: string
  receiver: string
  /** The number of messages at least. */
  events: number
  /** How often each side is killed. */
  kills: number
  /** Restarts the server of a database, if there is one. */
  restart?: () => Promise<void>
  random: () => number
  /** How long what was missed may take to come again. A webhook waits for minutes after the second failure of an event. */
  patience_ms?: number
}

/** What the program of a receiver is told. */
export interface ReceivingSettings {
  url: string
  base_url: string
  api_key: string
  from: string
  pulls: boolean
  push?: { port: number; secret: string }
}

/** The result of a run. */
export interface ReceiveFigures {
  events: number
  kills: number
  restarts: number
  harmed: LossyProxy['harmed']
  /** Events that were missed, applied twice or out of order. */
  faults: string[]
}

/** Each writes into a conversation of its own. */
const WRITERS = 4

/** Writers go on until all kills are done, but not as fast as they can. */
const LATE_PAUSE_MS = 50

/** The share of calls that the proxy harms. A pull has few of them, each with many events. */
const HARMED = { pull: 0.2, push: 0.03, both: 0.05 }

/** An event, as far as its order matters. */
interface TrueEvent {
  id: string
  conversation_id: string
}

/**
 * Kills both sides while events go through a proxy that loses, repeats and delays calls, and compares the effects with the
 * events.
 */
export async function crashReceive(options: ReceiveOptions): Promise<ReceiveFigures> {
  const { mode, kills, random, restart, patience_ms = 60_000 } = options
  const receiverPort = await freePort()
  const calls = await startLossyProxy(() => receiverPort, HARMED[mode], random)
  const config = {
    bots: { enabled: true },
    webhooks: { enabled: true, trusted_hosts: [`127.0.0.1:${calls.port}`] },
    outgoing: { allow_http: true, allowed_networks: ['127.0.0.0/8'], allowed_ports: [calls.port] },
  }
  let server = await startProcess(options.service, { config })
  const { base_url, port } = server
  const reads = await startLossyProxy(() => port, HARMED[mode], random)
  const ada = await (await settle(base_url)).signIn()
  const { bot, key } = await ada.bots.create({ username: 'receiver' })
  const rooms = await Promise.all(Array.from({ length: WRITERS }, () => ada.conversations.create()))
  for (const { conversation_id } of rooms) await ada.participants.add(conversation_id, { user_id: bot.id })
  const reader = createChatClient({ base_url, api_key: key })
  const truth = readTruth(reader, (await reader.feed.read()).position)
  const opened = await openStore(options.receiver)
  const settings: ReceivingSettings = {
    ...{ url: options.receiver, base_url: reads.base_url, api_key: key, from: truth.from, pulls: mode !== 'push' },
    ...(mode !== 'pull' && { push: { port: receiverPort, secret: await makeWebhook() } }),
  }
  let child = start()

  async function makeWebhook(): Promise<string> {
    const order = mode === 'push' ? ('conversation' as const) : ('none' as const)
    const url = `${calls.base_url}/events`
    const { secret } = await ada.webhooks.create({ url, bot_id: bot.id, types: ['message.new'], order })
    return secret!
  }

  function start(): ChildProcess {
    return spawn(process.execPath, [...programArgs('test/fault/receiving.ts'), JSON.stringify(settings)], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { PATH: process.env.PATH },
    })
  }

  /** Resolves when the effects are as many as the events so far. */
  async function caughtUp(): Promise<boolean> {
    const count = (await truth.read()).length
    for (const end = Date.now() + patience_ms; Date.now() < end; await sleep(50))
      if ((await opened.count()) >= count) return true
    return false
  }

  const state = { posted: 0, restarts: 0, isOver: false }
  const writing = Promise.all(
    rooms.map(async ({ conversation_id }) => {
      while (!state.isOver || state.posted < options.events) {
        // An event that a kill has left open may be stored or not: the feed decides.
        const posting = ada.messages.postRoot(conversation_id, { content: `event ${state.posted}` })
        await posting.then(
          () => state.posted++,
          () => sleep(LATE_PAUSE_MS),
        )
        if (state.posted >= options.events) await sleep(LATE_PAUSE_MS)
      }
    }),
  )
  for (let n = 1; n <= 2 * kills; n++) {
    // As often in the middle of many events as behind them. What a webhook missed comes again after seconds: without a
    // success between two kills, after minutes.
    if (mode !== 'pull' && !(await caughtUp())) break
    await sleep(random() * 400)
    const isService = n % 2 === 0
    if (isService) await server.kill()
    else await killChild(child)
    if (restart && n % 4 === 0) {
      await restart()
      state.restarts++
    }
    if (isService) server = await startProcess(options.service, { port, config })
    else child = start()
  }
  state.isOver = true
  await writing
  await caughtUp()
  const events = await truth.read()
  const effects = await opened.effects()
  await killChild(child)
  await server.kill()
  await Promise.all([opened.close(), calls.close(), reads.close()])
  const harmed = Object.fromEntries(
    Object.entries(calls.harmed).map(([harm, count]) => [
      harm,
      count + reads.harmed[harm as keyof typeof reads.harmed],
    ]),
  ) as LossyProxy['harmed']
  const faults = differences(mode, events, effects)
  return { events: events.length, kills: 2 * kills, restarts: state.restarts, harmed, faults }
}

async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** The events of the service itself, past the proxy. */
function readTruth(client: ChatClient, from: string) {
  const events: TrueEvent[] = []
  let after = from
  return {
    from,
    /** All events so far. */
    async read(): Promise<readonly TrueEvent[]> {
      for (;;) {
        const page = await client.feed.read({ after, types: 'message.new', limit: 1000 })
        events.push(...page.events.map(({ id, conversation_id }) => ({ id, conversation_id: conversation_id! })))
        after = page.position
        if (!page.more && page.events.length === 0) return events
      }
    },
  }
}

/** The order is that of all events for a pull, and that of each conversation for calls; of both at once there is none. */
function differences(mode: ReceiveMode, truth: readonly TrueEvent[], effects: string[]): string[] {
  const counts = new Map<string, number>()
  for (const id of effects) counts.set(id, (counts.get(id) ?? 0) + 1)
  const places = new Map(truth.map(({ id, conversation_id }) => [id, conversation_id]))
  const missed = truth.filter(({ id }) => !counts.has(id)).map(({ id }) => `missed: ${id}`)
  const repeated = [...counts].flatMap(([id, n]) => (n > 1 ? [`applied ${n} times: ${id}`] : []))
  const foreign = effects.filter((id) => !places.has(id)).map((id) => `no event: ${id}`)
  if (missed.length + repeated.length + foreign.length > 0) return [...missed, ...repeated, ...foreign]
  if (mode === 'both') return []
  const groups = mode === 'pull' ? [undefined] : [...new Set(places.values())]
  return groups.flatMap((group) => {
    const isIn = (id: string) => group === undefined || places.get(id) === group
    const applied = effects.filter(isIn)
    const expected = truth.filter(({ id }) => isIn(id))
    return expected.flatMap(({ id }, n) =>
      applied[n] === id ? [] : [`out of order at ${n}: ${applied[n]} instead of ${id}`],
    )
  })
}
