import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { DAY } from '../../../lib/core/units.ts'
import type { Actor } from '../../../lib/index.ts'
import { toReplayed } from '../../../lib/integrations/webhooks/rules-schedule.ts'
import type { WebhookOfActor } from '../../../lib/integrations/webhooks/schema.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

it('keeps room for the attempts of an event that is sent again', () => {
  const attempts = times(20, (at) => ({ at, ms: 1, error: 'status' }))
  const replayed = toReplayed({ status: 'dead', attempts, attempt_count: 10, next_at: null }, 99)
  expect(replayed).toEqual({ status: 'pending', attempts: attempts.slice(10), attempt_count: 0, next_at: 99 })
})

describeOnEachDatabase('deliveries of webhooks', (openUrl) => {
  let receiver: WebhookReceiver
  const service = setUpService(async () => {
    receiver = await startWebhookReceiver()
    return startService(await openUrl(), { config: webhooksTo(receiver) })
  })
  let ada: Person
  let grace: Person
  let actor: Actor
  let other: Actor
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actor = await service.chat.users.actor(ada.id)
    other = await service.chat.users.actor(grace.id)
    conversation_id = (await ada.conversations.create({ title: 'one' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })

  beforeEach(async () => {
    for (const { id } of (await service.chat.webhooks.list(actor)).webhooks)
      await service.chat.webhooks.remove(actor, id)
    receiver.calls.length = 0
    receiver.answer = () => 204
  })

  const create = async (input: Partial<WebhookOfActor> = {}) =>
    (await service.chat.webhooks.create(actor, { url: receiver.url, ...input })).webhook.id
  const post = (content: string) => service.chat.messages.postRoot(other, conversation_id, { content })
  const list = async (id: string, query: object = {}) => (await ada.webhooks.listDeliveries(id, query)).deliveries
  const settled = (id: string, count: number) =>
    vi.waitFor(async () => {
      const all = await list(id)
      expect(all.filter(({ status }) => status !== 'pending')).toHaveLength(count)
      return all
    }, PATIENT)

  it('are listed newest first, in pages and by status, without the event', async () => {
    receiver.answer = ({ event }) => (event.data.message.content === '2' ? 500 : 204)
    const id = await create({ parallel: 1 })
    for (const n of times(3, String)) await post(n)
    await vi.waitFor(async () => expect(await list(id)).toHaveLength(3), PATIENT)
    const [failed] = await list(id, { status: 'pending' })
    expect(failed).toEqual({
      id: expect.any(String),
      event_id: expect.stringMatching(/^evt_/),
      type: 'message.new',
      at: expect.any(String),
      status: 'pending',
      attempts: [{ at: expect.any(String), ms: expect.any(Number), status: 500, error: 'status' }],
      next_at: expect.any(String),
    })
    const first = await ada.webhooks.listDeliveries(id, { limit: 2 })
    const second = await ada.webhooks.listDeliveries(id, { limit: 2, after: first.next_after! })
    expect(second.next_after).toBeUndefined()
    const all = [...first.deliveries, ...second.deliveries].map((each) => each.id)
    expect(all).toEqual([...all].sort().reverse())
    expect(all).toHaveLength(3)
    expect(await codeOf(ada.webhooks.replayDelivery(id, failed!.id))).toBe('conflict')
  })

  it('are those of the owner alone', async () => {
    const id = await create()
    await post('one')
    const [delivery] = await settled(id, 1)
    expect(await codeOf(grace.webhooks.listDeliveries(id, {}))).toBe('not_found')
    expect(await codeOf(grace.webhooks.replayDelivery(id, delivery!.id))).toBe('not_found')
    expect(await codeOf(grace.webhooks.replay(id, { since: delivery!.at }))).toBe('not_found')
    expect(await codeOf(ada.webhooks.replayDelivery(await create(), delivery!.id))).toBe('not_found')
  })

  it('are sent again with the same id, once for each replay', async () => {
    const id = await create()
    await post('one')
    await post('two')
    const deliveries = await settled(id, 2)
    const one = deliveries.find(({ event_id }) => event_id === receiver.calls[0]!.id)!
    await ada.webhooks.replayDelivery(id, one.id)
    await receiver.waitFor(3)
    expect(receiver.calls[2]!.id).toBe(one.event_id)
    const again = (await settled(id, 2)).find((each) => each.id === one.id)
    expect(again!.attempts).toHaveLength(2)
    await post('three')
    await receiver.waitFor(4)
    expect(receiver.contents().at(-1)).toBe('three')
  })

  it('of a conversation in order hold up later events until a replayed one is settled', async () => {
    const id = await create({ order: 'conversation' })
    await post('one')
    const [one] = await settled(id, 1)
    receiver.answer = (_call, n) => (n === 1 ? 500 : 204)
    await ada.webhooks.replayDelivery(id, one!.id)
    await receiver.waitFor(2)
    await post('two')
    await receiver.waitFor(4)
    expect(receiver.contents()).toEqual(['one', 'one', 'one', 'two'])
  })

  it('refuses events that the log has no more, and old ones', async () => {
    const { db } = innerState(service)
    const id = await create()
    await post('one')
    await post('two')
    const [two, one] = await settled(id, 2)
    await db.write((tx) =>
      tx.run(sql`UPDATE webhook_deliveries SET event_number = event_number + 1000000 WHERE id = ${one!.id}`),
    )
    await db.write((tx) => tx.run(sql`UPDATE webhook_deliveries SET at = at - ${15 * DAY} WHERE id = ${two!.id}`))
    for (const each of [one, two]) expect(await codeOf(ada.webhooks.replayDelivery(id, each!.id))).toBe('not_found')
    const since = new Date(Date.now() - 15 * 86_400_000).toISOString()
    expect(await codeOf(ada.webhooks.replay(id, { since }))).toBe('not_found')
    const future = new Date(Date.now() + 86_400_000).toISOString()
    for (const bad of [future, 'yesterday', 'ffffffffffffffff.1'])
      expect(await codeOf(ada.webhooks.replay(id, { since: bad }))).toBe('validation_failed')
  })

  it('all come again that are after a position, in order, and those before do not', async () => {
    const id = await create({ order: 'conversation' })
    for (const n of times(4, String)) await post(n)
    await settled(id, 4)
    await vi.waitFor(async () => {
      const { position } = (await ada.webhooks.get(id)).webhook
      expect((await ada.feed.read({ after: position, types: 'message.new' })).events).toEqual([])
    }, PATIENT)
    const since = String(receiver.calls[1]!.headers['x-chat-server-position'])
    await ada.webhooks.replay(id, { since })
    await receiver.waitFor(6)
    await post('last')
    await receiver.waitFor(7)
    expect(receiver.contents()).toEqual(['0', '1', '2', '3', '2', '3', 'last'])
    // It is before it already.
    const before = (await ada.webhooks.get(id)).webhook.position
    await ada.webhooks.replay(id, { since: before })
  })

  it('come again in order when one of them waits for another attempt', async () => {
    receiver.answer = ({ event }) => (event.data.message.content === '0' ? 500 : 204)
    const id = await create({ order: 'conversation' })
    const since = (await ada.webhooks.get(id)).webhook.position
    for (const n of times(3, String)) await post(n)
    await vi.waitFor(async () => expect(await list(id, { status: 'pending' })).toHaveLength(3), PATIENT)
    receiver.answer = () => 204
    receiver.calls.length = 0
    await ada.webhooks.replay(id, { since })
    await settled(id, 3)
    expect(receiver.contents()).toEqual(['0', '1', '2'])
    await post('last')
    await receiver.waitFor(4)
  })

  it('are what the feed returns for the webhook', async () => {
    const id = await create({ only: 'notified', types: ['message.new'] })
    const { position } = await ada.feed.read({})
    await post('not for you')
    await service.chat.messages.postRoot(actor, conversation_id, { content: 'own' })
    await service.chat.messages.postRoot(other, conversation_id, {
      content: 'for you',
      mentions: { user_ids: [ada.id] },
    })
    await receiver.waitFor(1)
    const page = await ada.feed.read({ after: position, webhook_id: id })
    expect(page.events.map((each) => each.id)).toEqual(receiver.calls.map((each) => each.id))
    expect((await ada.feed.read({ after: page.position, webhook_id: id })).events).toEqual([])
    expect(await codeOf(grace.feed.read({ after: position, webhook_id: id }))).toBe('not_found')
  })
})
