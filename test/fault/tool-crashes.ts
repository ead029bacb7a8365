import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdminClient } from '../../lib/client/admin.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { seqOf, startFollowers } from './followers.ts'
import { inconsistenciesIn } from './invariants.ts'
import { settle, signInAt } from './people.ts'
import { examineRun, readStarts } from './tool-checks.ts'
import { startDecisions } from './tool-decisions.ts'
import { createRuns, type Runs } from './tool-runs.ts'

/** Two nodes that are killed while they run the tools of answers. */
export interface ToolCrashOptions {
  /** An empty database. */
  url: string
  /** How many processes are killed at least. */
  kills: number
  random: () => number
  onKill?: (figures: { kills: number; runs: number }) => void
}

/** The result of a run. */
export interface ToolCrashFigures {
  kills: number
  /** The answers, and how many of them a kill has interrupted. */
  runs: number
  interrupted: number
  calls: number
  /** How often tools have begun. */
  starts: number
  /** The calls of which it is not known whether they have happened. */
  unknown: number
  decisions: number
  /** The longest time from a kill to the next row of an answer. */
  longest_ms: number
  events: number
  reconnects: number
  /** Calls that have started twice, answers without an end or told otherwise, and so on. */
  faults: string[]
}

/** The limit for the time from a kill to the next row of an answer, or its end. */
const TAKEN_MS = 15_000

/** How long answers may take once no process is killed any more. */
const END_MS = 60_000

/** How many answers are under way at once. */
const ASKERS = 6

const POLL_MS = 20

export const TOOLS_CONFIG = {
  assistant: { tools: ['charge', 'look', 'refund', 'hold'], max_running: 1000, max_running_per_user: 1000 },
  sse: { max_streams_per_user: 1000 },
}

/** Kills two nodes at random moments while they run tools, and checks what has happened, and how often. */
export async function crashTools(options: ToolCrashOptions): Promise<ToolCrashFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-tools-'))
  const effects = join(folder, 'effects')
  await writeFile(effects, '')
  const { url, random } = options
  const fleet = await startFleet(url, { count: 2, config: TOOLS_CONFIG, random, effects })
  try {
    return await crashOn({ ...options, fleet, effects })
  } finally {
    await fleet.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Stage = ToolCrashOptions & { fleet: Fleet; effects: string }

async function crashOn(stage: Stage): Promise<ToolCrashFigures> {
  const { fleet, random, effects, url } = stage
  const { conversation_id, cookie } = await settle((await fleet.pick()).base_url)
  const pick = createClients(fleet)
  const position = async () => (await (await pick()).conversations.get(conversation_id)).stream_position!
  const from = await position()
  const runs = createRuns()
  const target = async () => (await fleet.pick()).base_url
  const reading = { conversation_id, cookie: await cookie(), target, from, readers: 2 }
  const cutAfter = () => Math.floor(2 ** (10 + random() * 8))
  const followers = startFollowers({ ...reading, cutAfter, onEvent: runs.onEvent })
  const decisions = startDecisions(pick, random)
  const asking = startAsking({ pick, runs, conversation_id, random })
  const faults: string[] = []
  try {
    const kills = await killAtRandom(stage, runs, faults)
    await asking.stop()
    if (!(await until(() => runs.open().length === 0, END_MS))) faults.push(`no end of ${runs.open()}`)
    await decisions.stop()
    const last = await position()
    const told = await followers.finish(last)
    if (told.log.size !== seqOf(last) - seqOf(from)) faults.push(`${told.log.size} events up to ${last}`)
    const starts = readStarts(effects)
    const evidence = { starts, log: told.log, outcomes: decisions.outcomes }
    const client = await pick()
    const examined = await Promise.all(runs.ids().map((id) => examineRun(client, id, evidence)))
    const calls = examined.flatMap((run) => run.calls)
    const stored = new Set(calls.map(({ call_id }) => call_id))
    for (const id of starts.keys()) if (!stored.has(id)) faults.push(`the call ${id} has started, and is none`)
    faults.push(...told.faults, ...decisions.faults, ...asking.faults, ...examined.flatMap((run) => run.faults))
    faults.push(...(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })))
    return {
      kills,
      runs: examined.length,
      interrupted: examined.filter(({ message }) => message.status === 'interrupted').length,
      calls: calls.length,
      starts: [...starts.values()].flat().length,
      unknown: calls.filter(({ state }) => state === 'unknown').length,
      decisions: decisions.outcomes.size,
      longest_ms: runs.longest_ms(),
      events: told.events,
      reconnects: told.reconnects,
      faults,
    }
  } finally {
    await Promise.all([asking.stop(), decisions.stop()])
    await followers.stop()
  }
}

/**
 * Kills in rounds. In some, nodes die again and again, also those that have just taken an answer; in the others, one or both
 * die, and it is measured how long answers are held up.
 */
async function killAtRandom({ fleet, kills, random, onKill }: Stage, runs: Runs, faults: string[]): Promise<number> {
  let killed = 0
  async function kill(index: number): Promise<void> {
    await fleet.kill(index)
    runs.onKill()
    killed++
    onKill?.({ kills: killed, runs: runs.ids().length })
  }

  for (let round = 0; killed < kills && faults.length === 0; round++) {
    await until(() => runs.open().length > 0, END_MS)
    if (round % 2 === 0) {
      runs.forgetKills()
      await sleep(random() * 1000)
      const first = Math.floor(random() * 2)
      await kill(first)
      const isBoth = random() < 0.5
      await sleep(random() * 500)
      if (isBoth) await kill(1 - first)
      await Promise.all([fleet.replace(first), isBoth && fleet.replace(1 - first)])
      if (!(await until(() => !runs.areHeldUp(), TAKEN_MS))) faults.push(`not taken up: ${runs.open()}`)
      if (runs.longest_ms() > TAKEN_MS) faults.push(`held up for ${runs.longest_ms()} ms`)
    } else {
      runs.forgetKills()
      for (let left = 1 + Math.floor(random() * 8); left > 0 && killed < kills; left--) {
        await sleep(random() * 1500)
        const index = Math.floor(random() * 2)
        await kill(index)
        runs.forgetKills()
        await sleep(random() * 300)
        await fleet.replace(index)
      }
      await sleep(random() * 4000)
    }
  }
  return killed
}

/** Keeps some answers under way. */
function startAsking({
  pick,
  runs,
  conversation_id,
  random,
}: {
  pick: () => Promise<AdminClient>
  runs: Runs
  conversation_id: string
  random: () => number
}) {
  const abort = new AbortController()
  const faults: string[] = []
  let asked = 0

  async function ask(): Promise<void> {
    const content = `run ${++asked} ${Math.floor(random() * 2 ** 31)}`
    try {
      const client = await pick()
      const { message_id } = await client.messages.postRoot(conversation_id, { content, role: 'assistant' })
      while (!runs.isOver(message_id) && !abort.signal.aborted) await sleep(POLL_MS)
    } catch (error) {
      // A kill may leave a question without a response.
      if (error instanceof ChatError && error.code !== 'unavailable') faults.push(`not asked: ${error}`)
    }
  }
  const over = Promise.all(
    Array.from({ length: ASKERS }, async () => {
      while (!abort.signal.aborted) await ask()
    }),
  )
  return {
    faults,
    async stop() {
      abort.abort()
      await over
    },
  }
}

/** Signed-in clients of the nodes that run, one of them at each call. */
export function createClients(fleet: Fleet): () => Promise<AdminClient> {
  const clients = new Map<string, Promise<AdminClient>>()
  return async () => {
    for (;;) {
      const { base_url } = await fleet.pick()
      const client = clients.get(base_url) ?? signInAt(base_url)
      clients.set(base_url, client)
      try {
        return await client
      } catch {
        // It was killed before it could answer.
        clients.delete(base_url)
        await sleep(POLL_MS)
      }
    }
  }
}

/** Waits for a condition. @returns whether it holds in time */
export async function until(holds: () => boolean | Promise<boolean>, limit_ms: number): Promise<boolean> {
  for (const end = performance.now() + limit_ms; performance.now() < end; await sleep(POLL_MS)) {
    if (await holds()) return true
  }
  return false
}
