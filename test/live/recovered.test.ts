import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import type { Actor } from '../../lib/core/actor.ts'
import type { Storage } from '../../lib/index.ts'
import { MEMORY } from '../support/memory.ts'
import { startCluster } from '../support/postgres.ts'
import { innerState, patiently, startService, type TestService, times } from '../support/service.ts'

const LONG = { timeout: 180_000 }

/** How often a crash is tried that gives numbers of transactions again. Another transaction may have kept them each time. */
const CRASHES = 5

/** More transactions than all others of a test. */
const MANY = 200

describe.skipIf(!inject('postgres_url'))('a node on a PostgreSQL that has recovered from a crash by itself', () => {
  /** Two nodes, and a stream of the second one, which polls only when the test says so. */
  async function start(wrap = (storage: Storage) => storage) {
    // Transactions that nobody waits for are lost in a crash.
    const cluster = (await startCluster(MEMORY, { wal_writer_delay: 10_000 }))!
    onTestFinished(() => cluster.stop())
    const [here, there] = [await startService(cluster.url), await startService(cluster.url, { wrap })]
    onTestFinished(async () => void (await Promise.all([here.close(), there.close()])))
    const ada = await here.chat.users.actor((await here.signIn('ada')).id)
    const { conversation_id } = await here.chat.conversations.create(ada)
    await innerState(there).streams.poller.stop()
    const seen = follow(there, ada, conversation_id)
    await vi.waitUntil(() => seen.includes('stream.ready'), { timeout: 30_000 })
    await innerState(there).streams.poller.poll()
    const post = (content: string) => patiently(() => here.chat.messages.postRoot(ada, conversation_id, { content }))
    return { url: cluster.url, there, seen, post }
  }

  /** The types of its events, and the texts of its messages. */
  function follow({ chat }: TestService, ada: Actor, conversation_id: string): string[] {
    const seen: string[] = []
    void (async () => {
      for await (const { event } of chat.events.follow(ada, conversation_id))
        seen.push(event.type === 'message.new' ? event.payload.message.content : event.type)
    })()
    return seen
  }

  /** Holds the looks and the reports of a node, from `hold` on, which resolves when both wait. */
  function createGate() {
    const passing = Promise.resolve()
    let gate = passing
    let release = () => {}
    const waiting = new Set<string>()
    async function pass<T>(kind: 'look' | 'report' | undefined, call: () => Promise<T>): Promise<T> {
      if (kind && gate !== passing) waiting.add(kind)
      if (kind) await gate
      return call()
    }
    const wrap = (storage: Storage): Storage => {
      const { db } = storage
      return {
        ...storage,
        db: {
          ...db,
          all: (sql) => pass(sql.text.includes('signals s') ? 'look' : undefined, () => db.all(sql)),
          get: (sql) => pass(sql.text.startsWith('UPDATE nodes') ? 'report' : undefined, () => db.get(sql)),
        },
      }
    }
    const hold = async () => {
      gate = new Promise((resolve) => (release = resolve))
      await vi.waitUntil(() => waiting.size === 2, { timeout: 30_000 })
    }
    return { wrap, hold, release: () => release() }
  }

  async function connect(connectionString: string): Promise<Client> {
    const client = new Client({ connectionString })
    client.on('error', () => {})
    await client.connect()
    await client.query('SET synchronous_commit = off')
    return client
  }

  /** Uses up numbers of transactions. */
  async function burn(client: Client): Promise<void> {
    for (const _ of times(MANY, () => 0)) await client.query('SELECT pg_current_xact_id()')
  }

  const readXmax = async (client: Client) =>
    Number((await client.query('SELECT pg_snapshot_xmax(pg_current_snapshot()) AS xmax')).rows[0].xmax)

  /** How far a crash loses nothing. */
  const readKept = async (client: Client): Promise<string> =>
    (await client.query('SELECT pg_current_wal_flush_lsn() AS kept')).rows[0].kept

  /** Crashes until numbers come again. @returns the last number before the last crash, and after it */
  async function crash(url: string, look: () => Promise<void>): Promise<{ before: number; after: number }> {
    let numbers = await crashOnce(url, look)
    for (let tries = 1; tries < CRASHES && numbers.after >= numbers.before; tries++)
      numbers = await crashOnce(url, look)
    return numbers
  }

  /** Kills a process of the server, which then ends all others and recovers. @returns the last number before, and after */
  async function crashOnce(url: string, look: () => Promise<void>): Promise<{ before: number; after: number }> {
    const [victim, witness] = [await connect(url), await connect(url)]
    const isEnding = new Promise((resolve) => witness.once('end', resolve))
    const { rows } = await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    let kept: string
    do {
      kept = await readKept(victim)
      await burn(victim)
      await look()
      // Any other transaction that waits for its own commit keeps these too.
    } while ((await readKept(victim)) !== kept)
    const before = await readXmax(victim)
    process.kill(rows[0]!.pid, 'SIGKILL')
    // Until the server has noticed, it takes connections, which then end.
    await isEnding
    const client = await vi.waitUntil(() => connect(url).catch(() => undefined), { timeout: 30_000 })
    onTestFinished(() => client.end())
    return { before, after: await readXmax(client) }
  }

  it('misses nothing whose transactions have numbers that were given before', LONG, async () => {
    const { url, there, seen, post } = await start()
    const { cluster } = innerState(there)
    const { poller } = innerState(there).streams
    await cluster.stop()
    const { before, after } = await crash(url, () => poller.poll())
    expect(after).toBeLessThan(before)
    await post('afterwards')
    await poller.poll()
    await vi.waitUntil(() => seen.includes('afterwards'), { timeout: 30_000 })
  })

  it(
    'looks at everything once it has no row any more, also if the numbers are past those of before',
    LONG,
    async () => {
      const { wrap, hold, release } = createGate()
      const { url, there, seen, post } = await start(wrap)
      // What it finds after the crash must include the post.
      await hold()
      onTestFinished(release)
      const { before, after } = await crash(url, () => innerState(there).streams.poller.poll())
      expect(after).toBeLessThan(before)
      await post('afterwards')
      const client = await connect(url)
      await burn(client)
      await client.end()
      release()
      await vi.waitUntil(() => seen.includes('afterwards'), { timeout: 30_000 })
    },
  )
})
