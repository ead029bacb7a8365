import { afterAll, beforeAll, expect, it } from 'vitest'
import { startFollowers } from '../fault/followers.ts'
import { createRandom, newSeed } from '../fault/random.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { patiently, startService, type TestService, times } from '../support/service.ts'
import { positionOf, range, seqOf, startReading } from './readers.ts'

const WRITERS = 8
const POSTS = 15
const READERS = 20

describeOnEachDatabase('readers whose connections break anywhere', (openUrl) => {
  const nodes: TestService[] = []
  let reading: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    const url = await openUrl()
    for (let i = 0; i < 2; i++) nodes.push(await startService(url, { config: { sse: { max_streams_per_user: 1000 } } }))
    reading = await startReading(nodes[0]!)
  })
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  it('miss nothing, get nothing twice, and all get the same order, whichever node they reconnect to', async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const random = createRandom(seed)
    const { ada, conversation_id, root, cookie } = reading
    const from = await positionOf(ada, conversation_id)
    const followers = startFollowers({
      target: () => nodes[Math.floor(random() * nodes.length)]!.base_url,
      // From the first byte to some events later, often within one, also within a character.
      cutAfter: () => Math.floor(2 ** (5 + random() * 10)),
      conversation_id,
      cookie,
      from,
      readers: READERS,
    })

    const acknowledged = await Promise.all(
      times(WRITERS, async (writer) => {
        const { chat } = nodes[writer % nodes.length]!
        const actor = await chat.users.actor(ada.id)
        const ids: string[] = []
        for (let i = 0; i < POSTS; i++) {
          const content = `${writer}/${i} ${'grüß 🥊 '.repeat(Math.floor(random() * 40))}`
          const posted =
            random() < 0.2
              ? await patiently(() => chat.messages.postRoot(actor, conversation_id, { content }))
              : await patiently(() => chat.messages.reply(actor, root.message_id, { content }))
          ids.push(posted.message_id)
        }
        return ids
      }),
    )
    const last = await positionOf(ada, conversation_id)
    const { faults, log, reconnects, events } = await followers.finish(last)

    expect(faults).toEqual([])
    expect([...log.keys()]).toEqual(range(seqOf(from), seqOf(last)))
    expect(events).toBe(READERS * log.size)
    expect([...log.values()].filter((what) => what !== 'thread.new').sort()).toEqual(acknowledged.flat().sort())
    expect(reconnects).toBeGreaterThan(READERS)
  })
})
