import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Actor } from '../../../lib/index.ts'
import type { WebhookOfActor } from '../../../lib/integrations/webhooks/schema.ts'
import { signCall } from '../../../lib/integrations/webhooks/signing.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, type Person, startService, times } from '../../support/service.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

describeOnEachDatabase('webhooks', (openUrl) => {
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

  const create = (input: Partial<WebhookOfActor> = {}) =>
    service.chat.webhooks.create(actor, { url: receiver.url, ...input })
  const post = (content: string) => service.chat.messages.postRoot(other, conversation_id, { content })
  const find = async (id: string) => (await service.chat.webhooks.get(actor, id)).webhook

  it('sends each event once, in order and signed, with its position, and remembers where it is', async () => {
    const { webhook, secret } = await create({ parallel: 1 })
    for (const n of times(5, (n) => n)) await post(`${n}`)
    await receiver.waitFor(5)
    expect(receiver.contents()).toEqual(['0', '1', '2', '3', '4'])
    const [{ headers, body, id, event }] = receiver.calls as [(typeof receiver.calls)[0]]
    expect(event).toMatchObject({ id, type: 'message.new', conversation_id, seq: expect.any(Number) })
    const timestamp = Number(headers['webhook-timestamp'])
    expect(headers['webhook-signature']).toBe(signCall({ id, timestamp, body }, [secret!]))
    const page = await service.chat.feed.read(actor, {
      after: String(headers['x-chat-server-position']),
      types: 'message.new',
    })
    expect(page.events[0]!.id).toBe(receiver.calls[1]!.id)
    await vi.waitFor(async () => {
      const { position, last_success_at } = await find(webhook.id)
      expect(last_success_at).toBeDefined()
      const { events } = await service.chat.feed.read(actor, { after: position, types: 'message.new' })
      expect(events).toEqual([])
    }, PATIENT)
  })

  it('leaves out what the owner has done, and what the owner does not see', async () => {
    await create({ types: ['message.new', 'reactions.changed'] })
    const { conversation_id: hidden } = await grace.conversations.create({ title: 'hidden' })
    await grace.messages.postRoot(hidden, { content: 'not for ada' })
    await service.chat.messages.postRoot(actor, conversation_id, { content: 'own' })
    await post('last')
    await receiver.waitFor(1)
    expect(receiver.contents()).toEqual(['last'])
  })

  it('sends nothing after it was deleted', async () => {
    const { webhook } = await create()
    await post('one')
    await receiver.waitFor(1)
    await service.chat.webhooks.remove(actor, webhook.id)
    await post('two')
    await create()
    await post('three')
    await receiver.waitFor(2)
    expect(receiver.contents()).toEqual(['one', 'three'])
  })

  it('sends a failed event again, and holds up no other meanwhile', async () => {
    receiver.answer = ({ event }) => (event.data.message.content === 'bad' && receiver.calls.length < 3 ? 500 : 204)
    await create()
    await post('bad')
    await post('good')
    await receiver.waitFor(3)
    expect(receiver.contents()).toEqual(['bad', 'good', 'bad'])
    expect(receiver.calls[2]!.id).toBe(receiver.calls[0]!.id)
  })

  it('keeps the order of a conversation behind a failed event', async () => {
    receiver.answer = ({ event }, n) => (event.data.message.content === '0' && n < 1 ? 500 : 204)
    await create({ order: 'conversation' })
    for (const n of times(4, (n) => n)) await post(`${n}`)
    await receiver.waitFor(5)
    expect(receiver.contents()).toEqual(['0', '0', '1', '2', '3'])
  })

  it('keeps what waits when it begins again before an event that is still on its way', async () => {
    const { conversation_id: elsewhere } = await grace.conversations.create({ title: 'two' })
    await grace.participants.add(elsewhere, { user_id: ada.id })
    const { webhook } = await create({ order: 'conversation' })
    await post('first')
    await vi.waitFor(async () => expect(await find(webhook.id)).toHaveProperty('last_success_at'), PATIENT)
    receiver.answer = ({ event }) => (event.data.message.content === 'slow' ? () => {} : 500)
    await post('slow')
    await service.chat.messages.postRoot(other, elsewhere, { content: 'bad' })
    await vi.waitFor(async () => expect(await find(webhook.id)).toMatchObject({ parked: 1 }), PATIENT)
    receiver.answer = () => 204
    await service.chat.webhooks.change(actor, webhook.id, { description: 'begun again' })
    await service.chat.messages.postRoot(other, elsewhere, { content: 'after' })
    await vi.waitFor(() => expect(receiver.contents().slice(-2)).toEqual(['bad', 'after']), PATIENT)
    await vi.waitFor(async () => expect(await find(webhook.id)).toMatchObject({ parked: 0 }), PATIENT)
  })

  it('sends what waits for an earlier event when the order is given up', async () => {
    const { webhook } = await create({ order: 'conversation' })
    receiver.answer = ({ event }) => (event.data.message.content === 'bad' ? 400 : 204)
    await post('bad')
    await post('behind')
    await vi.waitFor(async () => expect(await find(webhook.id)).toMatchObject({ parked: 2 }), PATIENT)
    await service.chat.webhooks.change(actor, webhook.id, { order: 'none' })
    await vi.waitFor(() => expect(receiver.contents()).toContain('behind'), PATIENT)
  })

  it('keeps the order of what waits already when the order is asked for later', async () => {
    const { webhook } = await create({ parallel: 1 })
    receiver.answer = () => 400
    for (const content of ['0', '1', '2']) await post(content)
    await vi.waitFor(async () => expect(await find(webhook.id)).toMatchObject({ parked: 3 }), PATIENT)
    receiver.calls.length = 0
    receiver.answer = () => 204
    await innerState(service.chat).db.write((tx) =>
      tx.run(
        sql`UPDATE webhook_deliveries SET next_at = next_at + 2000000
          WHERE event_number = (SELECT min(event_number) FROM webhook_deliveries WHERE webhook_id = ${webhook.id})`,
      ),
    )
    await service.chat.webhooks.change(actor, webhook.id, { order: 'conversation' })
    await receiver.waitFor(3)
    expect(receiver.contents()).toEqual(['0', '1', '2'])
  })

  it('is disabled by 410, and sends nothing more', async () => {
    receiver.answer = () => 410
    const { webhook } = await create()
    await post('one')
    await vi.waitFor(
      async () => expect(await find(webhook.id)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' }),
      PATIENT,
    )
    await post('two')
    expect(receiver.contents()).toEqual(['one'])
  })

  it('goes on where it was when it is enabled again', async () => {
    const { webhook } = await create()
    await service.chat.webhooks.change(actor, webhook.id, { enabled: false })
    await post('one')
    await service.chat.webhooks.change(actor, webhook.id, { enabled: true })
    await post('two')
    await receiver.waitFor(2)
    expect(receiver.contents()).toEqual(['one', 'two'])
  })

  it('sends no texts where only ids are wanted, or where an event is too large', async () => {
    await create({ payload: 'thin' })
    await post('secret')
    await receiver.waitFor(1)
    const [{ body, event }] = receiver.calls as [(typeof receiver.calls)[0]]
    expect(body).not.toContain('secret')
    const { id } = event.data.message
    expect(event.data).toMatchObject({
      message: { id, conversation_id, author_user_id: grace.id },
      url: `/api/messages/${id}`,
    })
    expect(event).not.toHaveProperty('truncated')
    await create()
    await post('x'.repeat(65_400))
    await receiver.waitFor(3)
    expect(receiver.calls.filter(({ event }) => event.truncated)).toHaveLength(1)
    expect(receiver.calls.every(({ body }) => body.length < 10_000)).toBe(true)
  })
})
