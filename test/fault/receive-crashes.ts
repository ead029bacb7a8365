import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatClient } from '../../lib/client/index.ts'
import { openStore } from '../receive/stores.ts'
import { programArgs } from '../support/programs.ts'
import { settle } from './people.ts'
import { startProcess } from './process.ts'

/** A service and a receiver that are killed in turn. */
export interface ReceiveOptions {
  /** Empty databases. */
  service: string
  receiver: string
  /** The number of messages; posts that a kill leaves open may add some. */
  events: number
  /** How often each side is killed. */
  kills: number
  /** Restarts the server of a database, if there is one. */
  restart?: () => Promise<void>
  random: () => number
}

/** The result of a run. */
export interface ReceiveFigures {
  events: number
  kills: number
  restarts: number
  /** Events that were missed, applied twice or out of order. */
  faults: string[]
}

const WRITERS = 4

const CONFIG = { bots: { enabled: true } }

/** Kills both sides while events are pulled, and compares the effects with the events. */
export async function crashReceive(options: ReceiveOptions): Promise<ReceiveFigures> {
  const { kills, random, restart } = options
  let server = await startProcess(options.service, { config: CONFIG })
  const { base_url, port } = server
  const place = await settle(base_url)
  const client = await place.signIn()
  const { key } = await client.keys.create({ name: 'receiver' })
  const opened = await openStore(options.receiver)
  let child = start()
  while ((await opened.store.positions('chat')).pulled === undefined) await sleep(20)
  const from = (await opened.store.positions('chat')).pulled!

  function start(): ChildProcess {
    const args = [options.receiver, base_url, key]
    return spawn(process.execPath, [...programArgs('test/fault/receiving.ts'), ...args], {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { PATH: process.env.PATH },
    })
  }

  const state = { posted: 0, restarts: 0 }
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (state.posted < options.events) {
        // An event that a kill has left open may be stored or not: the feed decides.
        const posting = client.messages.postRoot(place.conversation_id, { content: `event ${state.posted}` })
        await posting.then(
          () => state.posted++,
          () => sleep(50),
        )
      }
    }),
  )
  for (let n = 1; n <= kills; n++) {
    // As often in the middle of many events as behind them.
    await sleep(random() * 400)
    const isService = n % 2 === 0
    if (isService) await server.kill()
    else await killChild(child)
    if (restart && n % 4 === 0) {
      await restart()
      state.restarts++
    }
    if (isService) server = await startProcess(options.service, { port, config: CONFIG })
    else child = start()
  }
  await writing
  const truth = await eventsAfter(client, from)
  const isComplete = async () => (await opened.effects()).length >= truth.length
  for (const end = Date.now() + 60_000; !(await isComplete()) && Date.now() < end; ) await sleep(50)
  const effects = await opened.effects()
  await killChild(child)
  await server.kill()
  await opened.close()
  return { events: truth.length, kills, restarts: state.restarts, faults: differences(truth, effects) }
}

async function killChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function eventsAfter(client: ChatClient, from: string): Promise<string[]> {
  const ids: string[] = []
  for (let after = from; ; ) {
    const page = await client.feed.read({ after, types: 'message.new', limit: 1000 })
    ids.push(...page.events.map(({ id }) => id))
    if (!page.more && page.events.length === 0) return ids
    after = page.position
  }
}

function differences(truth: string[], effects: string[]): string[] {
  const counts = new Map<string, number>()
  for (const id of effects) counts.set(id, (counts.get(id) ?? 0) + 1)
  const missed = truth.filter((id) => !counts.has(id)).map((id) => `missed: ${id}`)
  const repeated = [...counts].flatMap(([id, n]) => (n > 1 ? [`applied ${n} times: ${id}`] : []))
  if (missed.length + repeated.length > 0) return [...missed, ...repeated]
  return truth.flatMap((id, n) => (effects[n] === id ? [] : [`out of order at ${n}: ${effects[n]} instead of ${id}`]))
}
