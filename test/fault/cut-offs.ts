import { setTimeout as sleep } from 'node:timers/promises'
import { differencesIn, faultsIn } from './answer-checks.ts'
import { leftoversIn, presenceFaults, responsesOf } from './cut-checks.ts'
import { ask, type CutPeople, type CutProbes, openStreams, startProbes, startReading } from './cut-load.ts'
import type { CutStage } from './cut-stage.ts'

/** How the database is out of reach: connections are refused; packets are late, or lost with their connections. */
export const CUTS = ['refused', 'late', 'lost'] as const

export type Cut = (typeof CUTS)[number]

/** The result of one cut. Times are from its begin, those of `after` from its end. */
export interface CutFigures {
  offline_ms: number
  interrupted_ms: number
  unready_ms: number
  after: { ready_ms: number; online_ms: number; seen_ms: number }
  /** The longest time of a response of the node meanwhile, of its probes, and of the other node. */
  slowest_ms: number
  slowest_probe_ms: number
  slowest_elsewhere_ms: number
  /** The number of responses with 503. */
  refused: number
  acknowledged: number
  events: number
  reconnects: number
  faults: string[]
}

interface CutOptions {
  cut: Cut
  /** Makes the names of its users unique. */
  name: string
  /** How long the cut lasts at least. */
  least_ms: number
  /** The time in which all must have been noticed, and be over. */
  within_ms: number
}

/** Cuts a node off from its database for a while, and compares what the users of both nodes see. */
export async function cutOff(stage: CutStage, options: CutOptions): Promise<CutFigures> {
  const people = await openStreams(stage, options.name)
  const reading = await startReading(stage)
  const probes = startProbes(stage)
  const root_id = await ask(stage, `${options.name} endless`)
  const findAnswer = async () => {
    const { messages } = await stage.ada.threads.tree(root_id)
    return messages.find(({ role }) => role === 'assistant')!
  }
  await probes.postAtCut.next(201)
  // Responses to requests of before the cut do not count.
  const ending = await interrupt(stage, options, async (clock) => {
    for (const probe of probes.all) probe.reset()
    return meanwhile(stage, { people, probes, clock, isEnded: async () => (await findAnswer()).status !== 'streaming' })
  })
  const { faults, ...responses } = responsesOf(probes)
  for (const probe of probes.all) probe.reset()
  const after = await afterwards({ people, probes, clock: createClock(options, faults) })
  await Promise.all(probes.all.map((probe) => probe.stop()))
  const posts = [...probes.post.stored, ...probes.postAtCut.stored]
  const { log, ...read } = await reading.finish(posts)
  const answer = await findAnswer()
  faults.push(
    ...ending.faults,
    ...read.faults,
    ...(await presenceFaults(stage, people)),
    ...(await leftoversIn(stage, people, options.cut === 'lost')),
    ...(await faultsIn(stage.ada, answer, stage.upstream)),
    ...differencesIn(log, [answer]),
  )
  const foreign = people.removed.stream.messages.filter((id) => ending.later().has(id))
  if (foreign.length > 0) faults.push(`a user who was removed meanwhile got ${foreign.length} later posts`)
  for (const stream of [people.ada, people.here, people.staying.stream]) stream.cut()
  const { later: _, ...times } = ending
  return { ...times, after, ...responses, ...read, acknowledged: posts.length, faults }
}

type Clock = ReturnType<typeof createClock>

/** Measures how long something takes. What takes too long is a fault. */
function createClock({ within_ms }: CutOptions, faults: string[]) {
  const start = performance.now()
  return {
    faults,
    async until(what: string, holds: () => boolean | Promise<boolean>): Promise<number> {
      const began = performance.now()
      while (!(await holds())) {
        await sleep(10)
        if (performance.now() - began < within_ms) continue
        faults.push(`${what}: not within ${within_ms} ms`)
        break
      }
      return performance.now() - start
    },
  }
}

/** Cuts, runs `work`, and ends the cut. */
async function interrupt<T>(
  { proxy }: CutStage,
  options: CutOptions,
  work: (clock: Clock) => Promise<T>,
): Promise<T & { faults: string[] }> {
  const { cut, least_ms } = options
  const faults: string[] = []
  const end = { refused: proxy.mend, late: proxy.release, lost: proxy.lose }[cut]
  const least = sleep(least_ms)
  if (cut === 'refused') proxy.cut()
  else proxy.hold()
  try {
    const result = await work(createClock(options, faults))
    await least
    return { ...result, faults }
  } finally {
    end()
  }
}

interface Scene {
  people: CutPeople
  probes: CutProbes
  clock: Clock
}

/** What happens during a cut, at the other node and for its users. */
async function meanwhile(
  { ada, conversation_id }: CutStage,
  { people, probes, clock: { until }, isEnded }: Scene & { isEnded: () => Promise<boolean> },
) {
  const { removed, leaving, staying } = people
  await ada.participants.remove(conversation_id, removed.guest.id)
  await probes.post.next(201)
  const before = new Set(probes.post.stored)
  leaving.stream.cut()
  const [offline_ms, interrupted_ms, unready_ms] = await Promise.all([
    until('the users of the node are offline', () => people.ada.presenceOf(staying.guest.id).at(-1) === 'offline'),
    until('its answer has ended', isEnded),
    until('it is not ready', () => probes.ready.statuses().has(503)),
    until('a user who left is offline', () => people.ada.presenceOf(leaving.guest.id).at(-1) === 'offline'),
    ...probes.atCut.map((probe, index) => until(`request ${index} is refused`, () => probe.statuses().has(503))),
  ])
  const later = () => new Set([...probes.post.stored].filter((id) => !before.has(id)))
  return { offline_ms: offline_ms!, interrupted_ms: interrupted_ms!, unready_ms: unready_ms!, later }
}

/** How the node comes back. */
async function afterwards({ people, probes, clock: { until } }: Scene) {
  const { removed, leaving, staying } = people
  let isClosed = false
  void removed.stream.over.then(() => (isClosed = true))
  const [ready_ms, online_ms, seen_ms] = await Promise.all([
    until('it is ready', () => probes.ready.statuses().has(200)),
    until('its users are online', () => people.ada.presenceOf(staying.guest.id).at(-1) === 'online'),
    until('a user who left is offline here', () => people.here.presenceOf(leaving.guest.id).at(-1) === 'offline'),
    until('the stream of a removed user ends', () => isClosed),
    until('it stores posts', () => probes.postAtCut.statuses().has(201)),
  ])
  return { ready_ms: ready_ms!, online_ms: online_ms!, seen_ms: seen_ms! }
}
