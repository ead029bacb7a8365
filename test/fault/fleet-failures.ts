import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { untilEnded } from './answer-checks.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { type FleetLoad, startLoad } from './fleet-load.ts'
import { type FleetPeople, settleFleet } from './fleet-people.ts'
import { type FleetPresence, startPresence } from './fleet-presence.ts'
import { inconsistenciesIn } from './invariants.ts'
import { openRaw } from './raw-reader.ts'
import { startUpstream, type Upstream } from './upstream.ts'

const NODES = 3
const GUESTS = 6
const CONVERSATIONS = 3

/** The lease of an answer, in microseconds. */
const LEASE = 10_000_000

/** Posts between two failures. */
const POSTS = 40

/** Nodes that fail under load, in every way of docs/guides/node-failures.md. */
export interface FleetFailureOptions {
  /** An empty PostgreSQL database. */
  url: string
  kills: number
  /** How long a node hangs. */
  pause_ms: number
  /** The time in which answers are ended, and presence is right. */
  within_ms: number
  config?: object
  random: () => number
  restartDatabase(): Promise<void>
  onStep(what: string): void
}

/** The result of a run. */
export interface FleetFigures {
  kills: number
  acknowledged: number
  unanswered: number
  events: number
  reconnects: number
  interrupted: number
  /** The longest time until an answer of a dead node was ended, and until presence was right. */
  slowest_answer_ms: number
  slowest_presence_ms: number
  faults: string[]
}

interface Stage {
  options: FleetFailureOptions
  fleet: Fleet
  people: FleetPeople
  load: FleetLoad
  presence: FleetPresence
  upstream: Upstream
  figures: FleetFigures
}

/** Kills nodes, lets one hang, and takes their database away, while they are used. */
export async function failNodes(options: FleetFailureOptions): Promise<FleetFigures> {
  const { url, random } = options
  const upstream = await startUpstream(random)
  const assistant = {
    ...{ provider: 'openai', base_url: upstream.url, model: 'tiny', max_running_per_user: 1000 },
    // Endless answers go on for as long as the test takes.
    answer_bytes: 16 * 1024 * 1024,
  }
  const config = { assistant, sse: { max_streams_per_user: 1000 }, ...options.config }
  const fleet = await startFleet(url, { count: NODES, config, random })
  const figures: FleetFigures = {
    ...{ kills: 0, acknowledged: 0, unanswered: 0, events: 0, reconnects: 0, interrupted: 0 },
    ...{ slowest_answer_ms: 0, slowest_presence_ms: 0, faults: [] },
  }
  try {
    const people = await settleFleet(fleet, { conversations: CONVERSATIONS, guests: GUESTS })
    const load = await startLoad(fleet, people)
    const presence = startPresence(fleet, people, options)
    try {
      await runAll({ options, fleet, people, load, presence, upstream, figures })
    } finally {
      const { slowest_ms, faults } = await presence.stop()
      figures.slowest_presence_ms = slowest_ms
      figures.faults.push(...faults)
      await load.stop()
    }
    figures.faults.push(...(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })))
    return figures
  } finally {
    await fleet.stop()
    await upstream.close()
  }
}

async function runAll(stage: Stage): Promise<void> {
  const { options, load, presence, figures } = stage
  for (const guest of presence.guests) guest.come()
  await load.progress(POSTS)
  await outlive(stage)
  options.onStep('an answer has outlived its first lease')
  await kill(stage)
  await presence.settled()
  for (const guest of presence.guests) guest.come()
  await presence.settled()
  options.onStep(`${figures.kills} kills`)
  await hang(stage)
  await presence.settled()
  options.onStep('a node has hung')
  await options.restartDatabase()
  await load.progress(POSTS)
  await presence.settled()
  options.onStep('PostgreSQL has been restarted')
  await terminateConnections(options.url)
  await load.progress(POSTS)
  await presence.settled()
  options.onStep('all connections have been terminated')
  const { faults, ...rest } = await load.finish()
  Object.assign(figures, rest, { acknowledged: load.acknowledged.size })
  figures.faults.push(...faults)
}

/** Kills nodes at random moments, and replaces each. Some of the users of a dead node do not come back for a while. */
async function kill({ options, fleet, people, load, presence, upstream, figures }: Stage): Promise<void> {
  const { random } = options
  const ends: Promise<void>[] = []
  while (figures.kills < options.kills && figures.faults.length === 0) {
    const index = Math.floor(random() * NODES)
    const node = fleet.at(index)!
    const prompt = `${figures.kills} endless`
    const root_id = await ask(people, { base_url: node.base_url, prompt })
    while (!upstream.to(prompt)?.text) await sleep(5)
    await load.progress(1 + Math.floor(random() * POSTS))
    // Of two guests of the node, one is away for longer.
    presence.at(node.base_url)[1]?.leave({ later: true })
    await fleet.kill(index)
    ends.push(ended(people, { root_id, figures, within_ms: options.within_ms }))
    figures.kills++
    await load.progress(POSTS)
    for (const guest of presence.guests) guest.comeBack()
    await fleet.replace(index)
    if (figures.kills % 10 === 0) options.onStep(`${figures.kills} kills`)
  }
  await Promise.all(ends)
}

/** An answer at a living node goes on after its first lease, however far the clock of another node is ahead. */
async function outlive({ options, fleet, people, upstream, figures }: Stage): Promise<void> {
  const { client } = people.ada
  const prompt = 'living endless'
  const root_id = await ask(people, { base_url: fleet.at(0)!.base_url, prompt })
  while (!upstream.to(prompt)?.text) await sleep(5)
  const find = async () => (await client.threads.tree(root_id)).messages.find(({ role }) => role === 'assistant')!
  const { id } = await find()
  await leaseIsOver(options.url, id)
  const sent = upstream.to(prompt)!.text.length
  let [stored, from] = [0, 0]
  while (stored <= sent && (await find()).status === 'streaming') {
    const chunks = await client.answers.listChunks(id, { from, limit: 1000 })
    from += chunks.length
    stored += chunks.reduce((sum, { content }) => sum + content.length, 0)
  }
  const { status } = await client.answers.cancel(id)
  if (stored <= sent || status !== 'cancelled') figures.faults.push(`an answer of a living node is ${status}`)
}

/** Waits until an answer has been in progress for longer than a lease, or has ended. */
async function leaseIsOver(url: string, messageId: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  const expiry = async () => {
    const sql = 'SELECT lease_expires_at FROM answers_under_way WHERE message_id = $1'
    const { rows } = await client.query<{ lease_expires_at: string }>(sql, [messageId])
    return rows[0] && Number(rows[0].lease_expires_at)
  }
  const first = await expiry()
  for (let now = first; now !== undefined && now <= first! + LEASE; now = await expiry()) await sleep(50)
  await client.end()
}

/** Requests an answer that does not end, at one node. @returns its thread */
async function ask(
  { ada, conversationIds }: FleetPeople,
  { base_url, prompt }: { base_url: string; prompt: string },
): Promise<string> {
  const { root_id } = await ada.client.messages.postRoot(conversationIds.at(-1)!, { content: 'root' })
  const headers = { ...ada.headers, 'content-type': 'application/json' }
  const body = JSON.stringify({ content: prompt, role: 'assistant' })
  void fetch(`${base_url}/api/messages/${root_id}/reply`, { method: 'POST', headers, body }).catch(() => {})
  return root_id
}

async function ended(
  { ada }: FleetPeople,
  { root_id, figures, within_ms }: { root_id: string; figures: FleetFigures; within_ms: number },
): Promise<void> {
  const killed = performance.now()
  const [answer] = await untilEnded(ada.client, root_id, killed, within_ms)
  const took = performance.now() - killed
  figures.slowest_answer_ms = Math.max(figures.slowest_answer_ms, took)
  if (answer?.status === 'interrupted' && took < within_ms) figures.interrupted++
  else figures.faults.push(`an answer is ${answer?.status} after ${took.toFixed(0)} ms`)
}

/** Stops a node, and continues it later: users who lost their rights meanwhile get nothing more. */
async function hang({ options, fleet, people, load, presence, figures }: Stage): Promise<void> {
  const conversation_id = people.conversationIds[0]!
  const node = fleet.at(0)!
  const [removed, leaving] = [await follow(people, node.base_url), await follow(people, node.base_url)]
  const guests = presence.at(node.base_url)
  for (const guest of guests) guest.expect('offline')
  const wake = fleet.pause(0)
  await people.ada.client.participants.remove(conversation_id, removed.user.id)
  const { base_url } = await fleet.pick()
  await fetch(`${base_url}/api/auth/logout`, { method: 'POST', headers: leaving.user.headers })
  const before = new Set(load.acknowledged.keys())
  // Posts of this moment may be in the log before the removal.
  await load.progress(2 * POSTS)
  const during = new Set([...load.acknowledged.keys()].slice(before.size + POSTS))
  await sleep(options.pause_ms)
  wake()
  for (const [what, { stream, got }] of Object.entries({ removed, leaving })) {
    const end = await Promise.race([stream.over, sleep(options.within_ms, 'still open')])
    if (end !== 'ended') figures.faults.push(`the stream of a user ${what} during a pause is ${end}`)
    const foreign = got.filter((id) => during.has(id))
    if (foreign.length > 0) figures.faults.push(`a user ${what} during a pause got ${foreign.length} later posts`)
    stream.cut()
  }
  for (const guest of guests) guest.expect('online')
  await load.progress(POSTS)
}

/** Opens the stream of a new user, and keeps the ids of its messages. */
async function follow({ conversationIds, invite }: FleetPeople, base_url: string) {
  const user = await invite()
  const got: string[] = []
  let setReady = () => {}
  const ready = new Promise<void>((resolve) => (setReady = resolve))
  const stream = openRaw({
    base_url,
    conversation_id: conversationIds[0]!,
    cookie: user.headers.cookie,
    onEvent({ event }) {
      if (event.type === 'stream.ready') setReady()
      if (event.type === 'message.new') got.push(event.payload.message.id)
    },
  })
  await ready
  return { user, got, stream }
}

async function terminateConnections(url: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1',
    ['client backend'],
  )
  await client.end()
}
