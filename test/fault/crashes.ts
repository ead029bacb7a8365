import type { ChatClient } from '../../lib/client/index.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { seqOf, startFollowers } from './followers.ts'
import { inconsistenciesIn } from './invariants.ts'
import { type Place, settle } from './people.ts'
import { startProcess } from './process.ts'

/** A service that is killed again and again while it is used. */
export interface CrashOptions {
  /** An empty database. */
  url: string
  cycles: number
  /** The average number of acknowledged messages before a kill. */
  posts: number
  random: () => number
  onCycle?: (figures: CrashFigures) => void
}

/** The result of a run. */
export interface CrashFigures {
  cycles: number
  acknowledged: number
  /** Posts that failed because of a kill: they may be stored or not. */
  unanswered: number
  /** The number of reconnects of readers. */
  reconnects: number
  /** The number of delivered events, over all readers. */
  events: number
  /** Failures: acknowledged messages that are missing or changed, ended sessions, gaps and repeats. */
  faults: string[]
}

const WRITERS = 8
const READERS = 4
const CONFIG = { sse: { max_streams_per_user: 1000 } }

/** Kills the service at random moments under load, starts it again, and checks its guarantees. */
export async function crash({ url, cycles, posts, random, onCycle }: CrashOptions): Promise<CrashFigures> {
  let server = await startProcess(url, { config: CONFIG })
  let isUp: Promise<unknown> = Promise.resolve()
  const { base_url, port } = server
  const place = await settle(base_url)
  // One after another: one account may have few waiting hashes.
  const writers: ChatClient[] = []
  while (writers.length < WRITERS) writers.push(await place.signIn())
  const from = await positionOf(writers[0]!, place)
  const reading = { conversation_id: place.conversation_id, cookie: await place.cookie() }
  const followers = startFollowers({ ...reading, from, readers: READERS, target: () => isUp.then(() => base_url) })
  const figures: CrashFigures = { cycles: 0, acknowledged: 0, unanswered: 0, reconnects: 0, events: 0, faults: [] }
  const threads: Map<string, string>[] = []

  /** Writes, kills at some moment, and starts again. */
  async function cycle(): Promise<void> {
    const acknowledged = await startThread(writers[0]!, place)
    threads.push(acknowledged)
    const restarted = deferred()
    const kill = async () => {
      for (let turns = Math.floor(random() * 20); turns > 0; turns--) await new Promise((done) => setImmediate(done))
      isUp = restarted.promise
      await server.kill()
    }
    const enough = 1 + Math.floor(random() * 2 * posts)
    figures.unanswered += await writeUntilKilled(writers, acknowledged, { enough, kill, random })
    server = await startProcess(url, { port, config: CONFIG })
    restarted.resolve()
    for (const writer of writers) await writer.auth.me().catch((error) => figures.faults.push(`session: ${error}`))
    figures.faults.push(...(await lossesIn(writers[0]!, acknowledged)))
    figures.cycles++
    figures.acknowledged += acknowledged.size
    figures.reconnects = followers.reconnects()
  }

  try {
    while (figures.cycles < cycles) {
      await cycle()
      onCycle?.(figures)
      // Readers wait for the lost events, so there is nothing more to check.
      if (figures.faults.length > 0) return figures
    }
    for (const acknowledged of threads) figures.faults.push(...(await lossesIn(writers[0]!, acknowledged)))
    const last = await positionOf(writers[0]!, place)
    const told = await followers.finish(last)
    const start = `${last.slice(0, last.indexOf('.'))}.0`
    const whole = await startFollowers({ ...reading, from: start, readers: 1, target: () => base_url }).finish(last)
    figures.events = told.events
    figures.faults.push(...told.faults, ...whole.faults, ...differences(told.log, whole.log, threads))
    if (told.log.size !== seqOf(last) - seqOf(from)) figures.faults.push(`${told.log.size} events up to ${last}`)
    figures.faults.push(...(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })))
    return figures
  } finally {
    await followers.stop()
    await server.kill()
  }
}

/** Events sent before a kill that are not in the log, and acknowledged messages without an event. */
function differences(told: Map<number, string>, whole: Map<number, string>, threads: Map<string, string>[]): string[] {
  const messages = new Set(told.values())
  return [
    ...[...told].filter(([seq, what]) => whole.get(seq) !== what).map(([seq]) => `event ${seq} was another`),
    ...threads
      .flatMap((acknowledged) => [...acknowledged.keys()])
      .filter((id) => !messages.has(id))
      .map((id) => `message ${id} was in no stream`),
  ]
}

/** A thread with its acknowledged messages, by id; its root is the first. */
async function startThread(client: ChatClient, { conversation_id }: Place): Promise<Map<string, string>> {
  const { message } = await client.messages.postRoot(conversation_id, { content: 'root' })
  return new Map([[message.id, message.content]])
}

/** All users post until the service is killed. @returns the number of posts without a response */
async function writeUntilKilled(
  writers: ChatClient[],
  acknowledged: Map<string, string>,
  { enough, kill, random }: { enough: number; kill: () => Promise<void>; random: () => number },
): Promise<number> {
  const ids = [...acknowledged.keys()]
  let killed: Promise<void> | undefined
  let unanswered = 0
  await Promise.all(
    writers.map(async (writer, index) => {
      for (let i = 0; ; i++) {
        const parent_id = ids[Math.floor(random() * Math.min(ids.length, 50))]!
        const content = `${index}/${i} ${'grüß 🥊 '.repeat(Math.floor(random() * 100))}`
        try {
          const { message } = await writer.messages.reply(parent_id, { content })
          acknowledged.set(message.id, content)
          ids.push(message.id)
          if (ids.length > enough) killed ??= kill()
        } catch (error) {
          if (error instanceof ChatError) throw error
          unanswered++
          if (killed) return killed
        }
      }
    }),
  )
  return unanswered
}

/** The acknowledged messages of a thread that are missing from it, or changed. */
async function lossesIn(client: ChatClient, acknowledged: Map<string, string>): Promise<string[]> {
  const [root_id] = acknowledged.keys()
  const found = new Map<string, string>()
  let cursor_path: string | undefined
  do {
    const query = { limit: 500, ...(cursor_path && { cursor_path }) }
    const page = await client.threads.tree(root_id!, query)
    for (const { id, content } of page.messages) found.set(id, content)
    cursor_path = page.next_cursor
  } while (cursor_path)
  return [...acknowledged].flatMap(([id, content]) => {
    if (found.get(id) === content) return []
    return [`message ${id} is ${found.has(id) ? 'altered' : 'lost'}`]
  })
}

async function positionOf(client: ChatClient, { conversation_id }: Place): Promise<string> {
  return (await client.conversations.get(conversation_id)).stream_position!
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
