import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { PartChange } from '../../lib/chat/answers/schema-parts.ts'
import { sql } from '../../lib/storage/sql.ts'
import { isLive, LIFE, type Model, type Projection, project, type Result, settle } from './model.ts'
import { type Choice, KINDS, type Operation } from './operations.ts'
import { startWorld, type World } from './world.ts'

/** How long the service may take until it is where the model is. */
const PATIENCE_MS = 20_000

/** How often two things happen at the same time. */
const RACES = 0.2

export interface Walk {
  operations: number
  races: number
  /** How often each kind of operation has happened. */
  counts: Record<string, number>
  /** What was wrong, with what led to it; the walk ends with the first one. */
  faults: string[]
}

/**
 * Does random things to answers with tools, and compares what has become of them with a model that knows only the rules.
 *
 * @param options.hold whether answers are held back until the application has seen them
 * @param options.random numbers from 0 up to 1: the same ones make the same choices
 */
export async function walk(
  url: string,
  { operations, random, hold = false }: { operations: number; random: () => number; hold?: boolean },
): Promise<Walk> {
  const world = await startWorld(url, { hold })
  const result: Walk = { operations: 0, races: 0, counts: {}, faults: [] }
  const trace: string[] = []
  const choice: Choice = { of: (list) => list[Math.floor(random() * list.length)]!, number: random }
  try {
    while (result.operations < operations && result.faults.length === 0) {
      const chosen = chooseOperations(world, choice)
      trace.push(chosen.map(({ operation: { text } }) => text).join(' WHILE '))
      for (const { kind } of chosen) result.counts[kind] = (result.counts[kind] ?? 0) + 1
      result.operations += chosen.length
      if (chosen.length > 1) result.races++
      const fault = await happen(
        world,
        chosen.map(({ operation }) => operation),
      )
      if (fault) result.faults.push(`${fault}\nafter:\n${trace.slice(-12).join('\n')}`)
    }
    if (result.faults.length === 0) result.faults.push(...(await findFaults(world)))
  } finally {
    await world.close()
  }
  return result
}

interface Chosen {
  kind: string
  operation: Operation
}

/** One operation, or two that happen at the same time. */
function chooseOperations(world: World, choice: Choice): Chosen[] {
  const canRace = choice.number() < RACES
  const first = chooseOne(world, choice, canRace)
  return canRace ? [first, chooseOne(world, choice, true)] : [first]
}

function chooseOne(world: World, choice: Choice, canRace: boolean): Chosen {
  const kinds = Object.entries(KINDS).filter(([, kind]) => !canRace || kind.canRace)
  const all = kinds.reduce((sum, [, { weight }]) => sum + weight, 0)
  for (let tries = 0; tries < 100; tries++) {
    let left = choice.number() * all
    const [kind, { choose }] = kinds.find(([, { weight }]) => {
      left -= weight
      return left < 0
    })!
    const operation = choose(world, choice)
    if (operation) return { kind, operation }
  }
  // There is nothing that others could do something with.
  return { kind: 'ask', operation: KINDS.ask!.choose(world, choice)! }
}

/** Lets it happen. @returns what is wrong afterwards */
async function happen(world: World, operations: readonly Operation[]): Promise<string | undefined> {
  const results = await Promise.all(operations.map((operation) => operation.perform()))
  const outcomes = outcomesOf(world.model, operations).filter((outcome) => isDeepStrictEqual(outcome.results, results))
  const expected = outcomes.map(({ model }) => project(model))
  let seen: Projection = []
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(2)) {
    await world.tick()
    seen = await world.observe()
    const at = expected.findIndex((each) => isDeepStrictEqual(each, seen))
    if (at < 0 && outcomes.length > 0) continue
    if (at < 0) break
    Object.assign(world.model, outcomes[at]!.model)
    return undefined
  }
  if (outcomes.length === 0) return `the results are ${JSON.stringify(results)}`
  return `seen:\n${changed(seen, expected[0]!)}\nexpected:\n${expected.map((each) => changed(each, seen)).join('\nor:\n')}`
}

/** The entries that are not in both. */
const changed = (entries: Projection, others: Projection) =>
  entries
    .filter((entry) => !others.some((other) => isDeepStrictEqual(entry, other)))
    .map((entry) => JSON.stringify(entry))
    .join('\n')

/** How things may be after operations that have happened at once: in each order, and before or after what follows the first one. */
function outcomesOf(
  model: Model,
  operations: readonly Operation[],
): { model: Model; results: (Result | undefined)[] }[] {
  const orders =
    operations.length === 1
      ? [[0]]
      : [
          [0, 1],
          [1, 0],
        ]
  return orders.flatMap((order) =>
    (order.length === 1 ? [true] : [true, false]).map((isSettledBetween) => {
      const state = structuredClone(model)
      const results: (Result | undefined)[] = []
      for (const n of order) {
        results[n] = operations[n]!.apply(state)
        if (isSettledBetween) settle(state)
      }
      settle(state)
      return { model: state, results }
    }),
  )
}

/** Ends what is under way, and looks for what is wrong in the database and in the history of each call. */
async function findFaults(world: World): Promise<string[]> {
  const { model, nodes } = world
  const [node] = nodes as [World['nodes'][0]]
  const owner = await node.users.actor(model.people.find(({ role }) => role === 'owner')!.id)
  for (const [id, answer] of model.answers) if (isLive(answer)) await node.answers.cancel(owner, id)
  const { findings } = await node.ops.fsck()
  return [
    ...findings.map((finding) => JSON.stringify(finding)),
    ...(await findBrokenLives(world)),
    ...(await findMiscounted(world)),
  ]
}

/** Each call that has ended was counted once, by one of the nodes. */
async function findMiscounted(world: World): Promise<string[]> {
  const counted = await world.counted()
  const states = await world
    .db()
    .all<{ state: string; count: number }>(sql`SELECT state, count(*) AS count FROM tool_calls GROUP BY state`)
  const ended = Object.fromEntries(states.map(({ state, count }) => [state, Number(count)]))
  return Object.keys({ ...counted, ...ended }).flatMap((state) => {
    const [seen, all] = [counted[state] ?? 0, ended[state] ?? 0]
    return seen === all ? [] : [`${seen} calls were counted as ${state}, of ${all}`]
  })
}

/** Each row of a call is a step that its state allows. */
async function findBrokenLives(world: World): Promise<string[]> {
  const rows = await world
    .db()
    .all<{ message_id: string; part: string }>(
      sql`SELECT message_id, part FROM message_chunks WHERE part IS NOT NULL ORDER BY message_id, idx`,
    )
  const states = new Map<string, keyof typeof LIFE>()
  return rows.flatMap(({ message_id, part }) => {
    const { id, type, state } = JSON.parse(part) as PartChange
    if (type !== 'tool' || !state) return []
    const key = `${message_id} ${id}`
    const before = states.get(key)
    states.set(key, state)
    const isAllowed = before ? (Object.values(LIFE[before]) as string[]).includes(state) : state === 'requested'
    return isAllowed ? [] : [`the call ${key} was ${before}, then ${state}`]
  })
}
