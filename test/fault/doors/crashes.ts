import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fleet, startFleet } from '../fleet.ts'
import { startFollowers } from '../followers.ts'
import { inconsistenciesIn } from '../invariants.ts'
import { settle } from '../people.ts'
import { createClients as createClientsOf, TOOLS_CONFIG, until } from '../tool-crashes.ts'
import { differencesIn, type Report } from './checks.ts'
import type { Asked } from './door.ts'
import { DOORS } from './table.ts'
import { type Clients, createClients, startDeciding } from './visits.ts'

/** Two nodes that are killed while clients of all protocols read their answers. */
export interface DoorCrashOptions {
  /** An empty database. */
  url: string
  /** How many processes are killed at least. */
  kills: number
  random: () => number
  /** The longest time from a stop to the end of each reading. */
  stop_ms: number
  onKill?: (figures: { kills: number; answers: number }) => void
}

/** The result of a run. */
export interface DoorCrashFigures {
  kills: number
  /** The number of answers that have ended, by status. */
  answers: Record<string, number>
  readings: number
  connections: number
  decisions: number
  /** The answers that were stopped, by protocol. */
  stops: Record<string, number>
  /** The longest time from a stop to the end of a reading, and the usual one. */
  longest_stop_ms: number
  median_stop_ms: number
  faults: string[]
}

/** What is asked in each round. */
const KINDS = ['write', 'write', 'run 1', 'run 2', 'endless', 'endless']

/** The readers of each answer, for each protocol; as many come when it has ended. */
const READERS = 2

/** By then a reader has begun. */
const MAX_FIRST_ROW = 40

/** How long answers and their readings may take once no process is killed any more. */
const END_MS = 60_000

const CONFIG = { ...TOOLS_CONFIG, features: { openai_api: true, mcp: true, ui_stream: true, ag_ui: true } }

/** Kills two nodes at random moments while clients of all protocols read, and compares what they have read. */
export async function crashDoors(options: DoorCrashOptions): Promise<DoorCrashFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-doors-'))
  const effects = join(folder, 'effects')
  await writeFile(effects, '')
  const { url, random } = options
  const fleet = await startFleet(url, { count: 2, config: CONFIG, random, effects })
  try {
    return await crashOn(options, fleet)
  } finally {
    await fleet.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function crashOn(options: DoorCrashOptions, fleet: Fleet): Promise<DoorCrashFigures> {
  const { url, random, kills } = options
  const { conversation_id, signIn, cookie } = await settle((await fleet.pick()).base_url)
  const { key } = await (await signIn()).keys.create({ name: 'clients' })
  const person = { conversation_id, key, cookie: await cookie() }
  const faults: string[] = []
  const fault = (text: string) => void faults.push(text)
  const clients = createClients(fleet, person, { random, fault })
  const from = (await (await clients.client()).conversations.get(conversation_id)).stream_position!
  const rows = createRowCounts()
  const target = async () => (await fleet.pick()).base_url
  const counting = startFollowers({ ...person, target, from, readers: 1, onEvent: rows.onEvent })
  const deciding = startDeciding(clients, { signedIn: createClientsOf(fleet), random, fault })
  const figures = { kills: 0, answers: {} as Record<string, number>, readings: 0, stops: {} as Record<string, number> }
  const stops_ms: number[] = []

  async function round(): Promise<void> {
    const writer = Math.floor(random() * 2)
    const asked = await Promise.all(
      KINDS.map((kind) => clients.ask(clients.door(), `${kind} ${Math.floor(random() * 2 ** 31)}`, writer)),
    )
    const reading = startReading(clients, asked, { rows, random, index: 1 - writer })
    // It is awaited below; left before, it fails.
    reading.catch(() => undefined)
    await killSome(writer)
    const stopped = await stopEndless(asked)
    const reports = await inTime(reading, () => `no end for ${clients.reading()}`)
    if (!reports) return clients.leave()
    for (const { asked: of, at, door } of reports) {
      const since = stopped.get(of.message_id)
      if (since === undefined) continue
      stops_ms.push(at - since)
      if (at - since > options.stop_ms) fault(`${door.name} ended ${Math.round(at - since)} ms after the stop`)
    }
    await compare(asked, reports)
  }

  /** Kills the node that writes and the one with the readers in turn, or both. */
  async function killSome(writer: number): Promise<void> {
    for (let left = 1 + Math.floor(random() * 3); left > 0 && figures.kills < kills; left--) {
      await sleep(random() * 1500)
      const index = (writer + figures.kills) % 2
      const isBoth = random() < 0.2
      for (const each of isBoth ? [index, 1 - index] : [index]) {
        await fleet.kill(each)
        figures.kills++
      }
      const answers = Object.values(figures.answers).reduce((sum, count) => sum + count, 0)
      options.onKill?.({ kills: figures.kills, answers })
      await sleep(random() * 300)
      await Promise.all([fleet.replace(index), isBoth && fleet.replace(1 - index)])
    }
  }

  /** @returns when each of them was stopped, by its id */
  async function stopEndless(asked: Asked[]): Promise<Map<string, number>> {
    const stopped = new Map<string, number>()
    for (const { message_id } of asked.filter(({ question }) => question.startsWith('endless'))) {
      await sleep(random() * 300)
      const door = clients.door()
      const at = await clients.stop(door, message_id)
      if (at === undefined) continue
      stopped.set(message_id, at)
      figures.stops[door.name] = (figures.stops[door.name] ?? 0) + 1
    }
    return stopped
  }

  async function inTime<T>(work: Promise<T>, what: () => string): Promise<T | undefined> {
    const result = await Promise.race([work, sleep(END_MS, undefined, { ref: false })])
    if (result === undefined) fault(what())
    return result
  }

  async function compare(asked: Asked[], reports: Report[]): Promise<void> {
    const client = await clients.client()
    for (const each of asked) {
      const message = await client.messages.get(each.message_id)
      const late = await Promise.all(DOORS.map((door) => clients.read(door, each, { index: -1, isRestless: false })))
      const own = [...reports.filter(({ asked: of }) => of === each), ...late]
      faults.push(...differencesIn(message, each, own))
      figures.answers[message.status] = (figures.answers[message.status] ?? 0) + 1
      figures.readings += own.length
    }
  }

  try {
    while (figures.kills < kills && faults.length === 0) await round()
    await deciding.stop()
    if (faults.length === 0)
      faults.push(...(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })))
    return {
      ...figures,
      connections: clients.connections(),
      decisions: deciding.decisions(),
      longest_stop_ms: Math.max(0, ...stops_ms),
      median_stop_ms: stops_ms.sort((a, b) => a - b)[Math.floor(stops_ms.length / 2)] ?? 0,
      faults,
    }
  } finally {
    clients.leave()
    await deciding.stop()
    await counting.stop()
  }
}

/** Readers of all protocols, who begin at random rows. */
function startReading(
  clients: Clients,
  asked: Asked[],
  { rows, random, index }: { rows: RowCounts; random: () => number; index: number },
): Promise<Report[]> {
  const readings = asked.flatMap((each) =>
    DOORS.flatMap((door) =>
      Array.from({ length: READERS }, async () => {
        const row = Math.floor(random() * MAX_FIRST_ROW)
        await until(() => rows.has(each.message_id, row), END_MS)
        return clients.read(door, each, { index, isRestless: true })
      }),
    ),
  )
  return Promise.all(readings)
}

type RowCounts = ReturnType<typeof createRowCounts>

/** Counts the rows of answers by the events of their conversation. */
function createRowCounts() {
  const counts = new Map<string, number>()
  const add = (id: string, count: number) => counts.set(id, (counts.get(id) ?? 0) + count)
  return {
    onEvent({ type, payload }: Parameters<NonNullable<Parameters<typeof startFollowers>[0]['onEvent']>>[0]): void {
      if (type === 'message.delta' || type === 'message.part') add(payload.message_id, 1)
      if (type === 'message.done') add(payload.message_id, Number.POSITIVE_INFINITY)
    },
    has: (id: string, count: number) => (counts.get(id) ?? 0) >= count,
  }
}
