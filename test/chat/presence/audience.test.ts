import { beforeAll, expect, it, onTestFinished } from 'vitest'
import type { ReceivedEvent } from '../../../lib/client/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

describeOnEachDatabase('presence in a conversation with many participants', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), { config: { presence: { broadcast_participants: 2 } } }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  /** With more participants than get presence events of each other. */
  let large: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
    large = (await ada.conversations.create()).conversation_id
    for (const user of [grace, await service.signIn('mary')]) await ada.participants.add(large, { user_id: user.id })
  })

  async function follow(person: Person, conversation_id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(service.base_url, person.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    onTestFinished(() => stream.close())
    return stream
  }

  /** The events up to two messages from now on. */
  async function soFar(stream: TestStream): Promise<ReceivedEvent[]> {
    await innerState(service).streams.presence.sweep()
    const seen: ReceivedEvent[] = []
    for (const content of ['so', 'far']) {
      const { message_id } = await ada.messages.postRoot(large, { content })
      seen.push(...(await stream.until('message.new', (event) => JSON.stringify(event).includes(message_id))))
    }
    return seen
  }
  const toldOf = (events: ReceivedEvent[], person: Person) =>
    events.filter(({ event }) => event.type === 'presence.update' && event.payload.user_id === person.id).length

  it('is not sent, and stream.ready says so', async () => {
    const one = await follow(grace, large)
    const all = await follow(grace)
    const [ready] = await one.until('stream.ready')
    expect(ready!.event.payload).toMatchObject({ presence: false })
    const [readyAll] = await all.until('stream.ready')
    expect(readyAll!.event.payload).not.toHaveProperty('presence')
    const hers = await follow(ada, large)
    await hers.until('stream.ready')
    await ada.presence.sendHeartbeat({ status: 'away' })
    await ada.participants.add(large, { user_id: eve.id })
    expect(toldOf(await soFar(one), ada)).toBe(0)
    const seen = await soFar(all)
    expect(toldOf(seen, ada)).toBe(0)
    expect(toldOf(seen, eve)).toBe(0)
    await ada.participants.remove(large, eve.id)
  })

  it('is sent to those who also share a smaller one, once', async () => {
    const small = times(2, () => ada.conversations.create())
    for (const { conversation_id } of await Promise.all(small))
      await ada.participants.add(conversation_id, { user_id: grace.id })
    const { conversation_id } = await small[0]!
    const one = await follow(grace, conversation_id)
    const [ready] = await one.until('stream.ready')
    expect(ready!.event.payload).not.toHaveProperty('presence')
    const all = await follow(grace)
    await all.until('stream.ready')
    const becomes = (stream: TestStream, status: string) =>
      stream.until(
        'presence.update',
        ({ type, payload }) => type === 'presence.update' && payload.user_id === ada.id && payload.status === status,
      )
    // Of the changes of a moment only the last one is sent.
    await ada.presence.sendHeartbeat({ status: 'online' })
    await becomes(one, 'online')
    await ada.presence.sendHeartbeat({ status: 'away' })
    await becomes(one, 'away')
    const told = [...(await becomes(all, 'away')), ...(await soFar(all))]
    const says = told.flatMap(({ event }) =>
      event.type === 'presence.update' && event.payload.user_id === ada.id ? [event.payload.status] : [],
    )
    expect(says.filter((status) => status === 'away')).toHaveLength(1)
  })

  it('can be read', async () => {
    await ada.presence.sendHeartbeat({ status: 'away' })
    const ids = [eve.id, ada.id, grace.id, ada.id, '01980a3c-7000-7a10-8b20-0c4f1d2e3a43']
    const { presence } = await grace.presence.list({ user_ids: ids.join() })
    expect(presence).toEqual([
      { user_id: ada.id, status: 'away', last_seen_at: expect.any(String) },
      {
        user_id: grace.id,
        status: expect.any(String),
        ...(presence[1]?.last_seen_at && { last_seen_at: expect.any(String) }),
      },
    ])
    expect(await eve.presence.list({ user_ids: ids.join() })).toEqual({
      presence: [{ user_id: eve.id, status: 'offline' }],
    })
    expect((await grace.presence.list({ user_ids: ada.id.toUpperCase() })).presence).toHaveLength(1)
  })

  it('can be read of 200 users at once', async () => {
    expect((await ada.presence.list({ user_ids: times(200, () => ada.id).join() })).presence).toHaveLength(1)
    for (const user_ids of ['', 'ada', `${ada.id},`, `${ada.id} ${grace.id}`, times(201, () => ada.id).join()])
      expect(await codeOf(ada.presence.list({ user_ids }))).toBe('validation_failed')
  })

  it('is shown with the participants, large or not', async () => {
    const { participants } = await ada.conversations.get(large)
    expect(participants.find(({ user_id }) => user_id === ada.id)!.presence.status).toBe('away')
  })
})
