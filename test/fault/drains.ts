import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatClient } from '../../lib/client/index.ts'
import { signInByHand } from '../support/stream.ts'
import { inconsistenciesIn } from './invariants.ts'
import { ADA, type Place, settle } from './people.ts'
import { openRaw } from './raw-reader.ts'
import { type ServeProcess, startServe } from './serving.ts'

/** A service that is stopped in an orderly way, again and again, under load. */
export interface DrainOptions {
  /** An empty database. */
  url: string
  cycles: number
  /** The number of open streams at each stop. */
  streams: number
  /** The number of clients that post continuously, each on a keep-alive connection. */
  writers: number
  random: () => number
  onCycle?: (figures: DrainFigures) => void
}

/** The result of a run. */
export interface DrainFigures {
  cycles: number
  acknowledged: number
  /**
   * Connections reset before the service accepted them: between its last check and the end of the port. None of their
   * requests was executed, so the client may retry them.
   */
  resets: number
  /** Streams that ended with an event about it. */
  farewells: number
  /** The longest stop, in milliseconds. */
  slowest: number
  /** Failures: a request or a stream that was cut off, a message that is missing or that was not acknowledged. */
  faults: string[]
}

/** The maximum duration of a stop. */
const TIMEOUT_MS = 10_000

/** Stops the service under load, starts it again, and checks that nothing was cut off or lost. */
export async function drain(options: DrainOptions): Promise<DrainFigures> {
  const { url, cycles, onCycle } = options
  const figures: DrainFigures = { cycles: 0, acknowledged: 0, resets: 0, farewells: 0, slowest: 0, faults: [] }
  let server = await startServe(url)
  try {
    const place = await settle(server.base_url)
    const posts = new Map<string, Set<string>>()
    while (figures.cycles < cycles) {
      const client = await place.signInAt(server.base_url)
      const { root_id } = await client.messages.postRoot(place.conversation_id, { content: 'root' })
      posts.set(root_id, new Set([root_id]))
      await cycle(server, { ...options, place, root_id, acknowledged: posts.get(root_id)!, figures })
      server = await startServe(url)
      figures.cycles++
      onCycle?.(figures)
      if (figures.faults.length > 0) break
    }
    const reader = await place.signInAt(server.base_url)
    for (const [root_id, acknowledged] of posts)
      figures.faults.push(...(await differences(reader, root_id, acknowledged)))
    server.signal('SIGTERM')
    await server.exit
    figures.faults.push(...(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })))
    return figures
  } finally {
    server.signal('SIGKILL')
  }
}

interface Cycle extends DrainOptions {
  place: Place
  root_id: string
  acknowledged: Set<string>
  figures: DrainFigures
}

async function cycle(server: ServeProcess, run: Cycle): Promise<void> {
  const { figures, place, streams, writers, random, acknowledged } = run
  const fault = (what: string) => void figures.faults.push(`stop ${figures.cycles + 1}: ${what}`)
  const headers = await signInByHand(server.base_url, ADA.email, ADA.password)

  let ready = 0
  let told = 0
  const readers = Array.from({ length: streams }, () =>
    openRaw({
      base_url: server.base_url,
      conversation_id: place.conversation_id,
      cookie: headers.cookie,
      onEvent({ event }) {
        if (event.type === 'stream.ready') ready++
        if (event.type === 'stream.closed' && event.payload.reason === 'draining') told++
      },
    }),
  )
  while (ready < streams) await sleep(10)

  const before = acknowledged.size
  const posting = Array.from({ length: writers }, (_, index) =>
    // Some post without a pause, the others have idle connections most of the time.
    postUntilRefused(server, { ...run, headers, pause: () => (index % 2 ? random() * 500 : 0), fault }),
  )
  while (acknowledged.size < before + 20 * writers) await sleep(5)
  await sleep(random() * 50)

  const started = performance.now()
  server.signal('SIGTERM')
  const code = await Promise.race([server.exit, sleep(TIMEOUT_MS, 'still there', { ref: false })])
  const took = performance.now() - started
  if (code !== 0) fault(`ended with ${code} after ${took.toFixed(0)} ms`)
  await Promise.all(posting)
  const overs = await Promise.all(readers.map((reader) => reader.over))
  for (const over of overs) if (over !== 'ended') fault(`a stream was ${over}`)
  if (told !== streams) fault(`${streams - told} streams were not told`)
  figures.farewells += told
  figures.acknowledged += acknowledged.size - before
  figures.slowest = Math.max(figures.slowest, took)
}

interface Posting {
  root_id: string
  acknowledged: Set<string>
  figures: DrainFigures
  headers: Record<string, string>
  pause(): number
  fault(what: string): void
}

/** Posts on a keep-alive connection, or a new one when the server has closed it, until none is accepted. */
async function postUntilRefused({ base_url }: ServeProcess, posting: Posting): Promise<void> {
  const { root_id, acknowledged, figures, headers, pause, fault } = posting
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    try {
      const { status, body } = await post(`${base_url}/api/messages/${root_id}/reply`, headers, agent)
      if (status === 201) acknowledged.add((JSON.parse(body) as { message_id: string }).message_id)
      else fault(`a post was answered with ${status}: ${body}`)
    } catch (error) {
      const { code, message, was_kept } = error as NodeJS.ErrnoException & { was_kept?: boolean }
      if (code === 'ECONNRESET' && !was_kept) figures.resets++
      else if (code !== 'ECONNREFUSED') fault(`a post was cut off: ${code ?? message}`)
      agent.destroy()
      return
    }
    const ms = pause()
    if (ms > 0) await sleep(ms)
  }
}

async function post(url: string, headers: Record<string, string>, agent: Agent) {
  const body = JSON.stringify({ content: 'a reply' })
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
  }).end(body)
  const [response] = await once(sent, 'response').catch((error) => {
    throw Object.assign(error, { was_kept: sent.reusedSocket })
  })
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode as number, body: text }
}

/** How the messages of a thread differ from the acknowledged ones: after an orderly stop they are equal. */
async function differences(client: ChatClient, root_id: string, acknowledged: Set<string>): Promise<string[]> {
  const missing = new Set(acknowledged)
  const unheard: string[] = []
  let cursor_path: string | undefined
  do {
    const query = { limit: 500, ...(cursor_path && { cursor_path }) }
    const page = await client.threads.tree(root_id, query)
    for (const { id } of page.messages) if (!missing.delete(id)) unheard.push(`message ${id} was not acknowledged`)
    cursor_path = page.next_cursor
  } while (cursor_path)
  return [...[...missing].map((id) => `message ${id} is lost`), ...unheard]
}
