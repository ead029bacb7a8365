import { expect, inject, it, onTestFinished } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { type Bus, openStorage } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { BUS_SERVERS, type BusExample, startBusServer } from './bus-servers.ts'
import { createPostgresDatabase } from './databases.ts'
import { start } from './example.ts'
import { innerState, PASSWORD, startService } from './service.ts'
import { openStream, signInByHand } from './stream.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }

/** Tests an example with a message bus: two of its nodes, and the real broker, which also restarts under load. */
export function testBusExample(name: BusExample, createBus: (url: string) => Bus): void {
  const { program } = BUS_SERVERS[name]
  if (!program) console.log(`Tests of examples/${name} skipped: its server not found`)

  it.skipIf(!program || !inject('postgres_url'))('a node passes events on to another through the bus', async () => {
    const database = await createPostgresDatabase()
    const broker = await startBusServer(name)
    const here = start(`${name}/node.ts`, database.url, broker.url)
    const base_url = await here.printed(/http:\/\/[\d.]+:\d+/)
    const there = start(`${name}/node.ts`, database.url, broker.url)
    const other_url = await there.printed(/http:\/\/[\d.]+:\d+/)
    onTestFinished(async () => {
      await broker.stop()
      await database.remove()
    })

    const ada = createChatClient({ base_url })
    await ada.setup.run(ADA)
    await ada.auth.login(ADA)
    const { conversation_id } = await ada.conversations.create()
    const { cookie } = await signInByHand(other_url, ADA.email, ADA.password)
    const stream = await openStream(other_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    // Before it knows the other node, a node publishes nothing.
    await expect.poll(async () => (await fetch(`${base_url}/metrics`)).text()).toMatch(/^chat_nodes 2$/m)
    await ada.messages.postRoot(conversation_id, { content: 'first' })
    await stream.until('message.new')
    await ada.presence.setTyping({ conversation_id })
    await stream.until('typing.update')
    const storage = await openStorage({ database: database.url })
    const signals = await storage.db.all<{ body: string }>(sql`SELECT body FROM signals`)
    await storage.close()
    // It did not come through the database.
    expect(signals.filter(({ body }) => body.includes('typing.update'))).toEqual([])
    await stream.close()
    expect(await Promise.all([here.stop(), there.stop()])).toEqual([0, 0])
  })

  it.skipIf(!program || !inject('postgres_url'))(
    'a restart of the broker under load loses no event',
    async () => {
      const database = await createPostgresDatabase()
      const broker = await startBusServer(name)
      const startNode = () => startService(database.url, { ports: { bus: createBus(broker.url) } })
      const [here, there] = [await startNode(), await startNode()]
      onTestFinished(async () => {
        await Promise.all([here.close(), there.close()])
        await broker.stop()
        await database.remove()
      })
      const ada = await here.signIn('ada')
      const { conversation_id } = await ada.conversations.create()
      const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'root' })
      const { cookie } = await signInByHand(there.base_url, ada.email, PASSWORD)
      const stream = await openStream(there.base_url, conversation_id, { cookie })
      await stream.until('stream.ready')
      await expect.poll(() => [here, there].some(({ chat }) => innerState(chat).cluster.isSingleNode())).toBe(false)

      let last = 0
      let isOver = false
      const post = async () => {
        while (!isOver) await ada.messages.reply(root_id, { content: String(++last) })
      }
      const seen: number[] = []
      /** Reads until a post that is sent from now on. */
      const follow = async () => {
        const next = last + 1
        const events = await stream.until('message.new', ({ payload }) => contentOf(payload) >= next)
        for (const { event } of events) if (event.type === 'message.new') seen.push(contentOf(event.payload))
      }
      const posting = post()
      await follow()
      await broker.kill()
      await follow()
      await broker.restart()
      // From now on the bus alone tells this node of the commits of the other.
      await innerState(there).streams.poller.stop()
      await follow()
      await follow()
      isOver = true
      await posting
      expect(seen.length).toBeGreaterThanOrEqual(4)
      expect(seen).toEqual(Array.from({ length: seen.length }, (_, n) => n + 1))
      await stream.close()
    },
    30_000,
  )
}

const contentOf = (payload: object) => Number((payload as { message: { content: string } }).message.content)
