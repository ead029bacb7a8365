import { afterEach, beforeEach, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { PASSWORD, startService, startThread, type TestService, times } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

const HOUR = 3_600 * 1_000_000

describeOnEachDatabase('what is kept for a time only', (openUrl) => {
  let service: TestService
  let clock: number

  beforeEach(async () => {
    clock = Date.now() * 1000
    // Sessions outlive what is tried here.
    const session = { idle_seconds: 30 * 86_400, absolute_seconds: 30 * 86_400 }
    service = await startService(await openUrl(), { config: { session }, ports: { now: () => clock } })
  })
  afterEach(() => service.close())

  const count = async (table: string) =>
    (await service.chat.context.db.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`))!.count

  it('are events, for two days; who comes back later is told to read again', async () => {
    const { ada, conversation_id, root } = await startThread(service)
    const { stream_position } = await ada.readConversation({ params: { conversation_id } })
    const reply = (content: string) => ada.replyToMessage({ params: { parent_id: root.message_id }, body: { content } })
    clock += 47 * HOUR
    await reply('kept for two days more')
    const { stream_position: later } = await ada.readConversation({ params: { conversation_id } })
    await reply('the last one')
    expect(await service.chat.ops.prune()).toMatchObject({ events: 0 })
    clock += 2 * HOUR
    expect((await service.chat.ops.prune()).events).toBeGreaterThan(3)
    expect(await service.chat.ops.prune()).toMatchObject({ events: 0 })

    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const follow = (last_event_id: string) => openStream(service.base_url, conversation_id, { cookie, last_event_id })
    const tooLate = await follow(stream_position!.replace(/\d+$/, '1'))
    const [, reset] = await tooLate.until('stream.reset')
    expect(reset!.event.payload).toMatchObject({ reason: 'expired' })
    await tooLate.close()
    for (const position of [stream_position!, later!]) {
      const inTime = await follow(position)
      const [ready] = await inTime.until('stream.ready')
      expect(ready!.event.payload).toMatchObject({ resumed: true })
      const [last] = (await inTime.until('message.new', isLast)).slice(-1)
      expect(last!.event.payload).toMatchObject({ message: { content: 'the last one' } })
      await inTime.close()
    }
    // What happened is gone from the log only.
    const tree = await ada.readThread({ params: { root_id: root.root_id } })
    expect(tree.messages).toHaveLength(3)
  })

  it('are events, but for the newest of all, so that numbers go on', async () => {
    const { ada, conversation_id } = await startThread(service)
    const { stream_position } = await ada.readConversation({ params: { conversation_id } })
    const actor = await service.chat.users.actor(ada.id)
    const feedHead = async () => {
      for await (const { id } of service.chat.events.followAll(actor)) return id
    }
    const before = await feedHead()
    clock += 100 * HOUR
    await service.chat.ops.prune()
    expect(await count('events')).toBe(1)
    expect(await feedHead()).toBe(before)
    expect((await ada.readConversation({ params: { conversation_id } })).stream_position).toBe(stream_position)
  })

  it('are events of a busy day, in batches, by two processes at once', async () => {
    const { ada, root } = await startThread(service)
    const actor = await service.chat.users.actor(ada.id)
    const post = (content: string) => service.chat.messages.reply(actor, root.message_id, { content })
    for (const some of times(60, (index) => index)) await Promise.all(times(20, (index) => post(`${some} ${index}`)))
    clock += 49 * HOUR
    const [one, other] = await Promise.all([service.chat.ops.prune(), service.chat.ops.prune()])
    expect(one.events + other.events).toBeGreaterThan(1200)
    expect(await count('events')).toBe(1)
  })

  it('are keys of posts, for a day', async () => {
    const { ada, conversation_id } = await startThread(service)
    const post = (key: string) =>
      ada.postRoot({ params: { conversation_id }, body: { content: key }, headers: { 'idempotency-key': key } })
    await post('old')
    clock += 23 * HOUR
    await post('new')
    clock += HOUR
    expect(await service.chat.ops.prune()).toMatchObject({ idempotency_keys: 1 })
    expect(await count('idempotency_keys')).toBe(1)
  })
})

const isLast = (event: { type: string; payload: unknown }) =>
  (event.payload as { message?: { content: string } }).message?.content === 'the last one'
