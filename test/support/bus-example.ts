import { expect, inject, it, onTestFinished } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { openStorage } from '../../lib/index.ts'
import { BUS_SERVERS, type BusExample, startBusServer } from './bus-servers.ts'
import { createPostgresDatabase } from './databases.ts'
import { start } from './example.ts'
import { openStream, signInByHand } from './stream.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }

/** Tests an example with a message bus: two of its nodes, and the real broker. */
export function testBusExample(name: BusExample): void {
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
    const signals = await storage.db.all<{ body: string }>('SELECT body FROM signals')
    await storage.close()
    // It did not come through the database.
    expect(signals.filter(({ body }) => body.includes('typing.update'))).toEqual([])
    await stream.close()
    expect(await Promise.all([here.stop(), there.stop()])).toEqual([0, 0])
  })
}
