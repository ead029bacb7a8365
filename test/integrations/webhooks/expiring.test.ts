import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { checkWebhooks } from '../../../cli/doctor/webhooks.ts'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { DAY, HOUR, SECOND } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, type Person, startService, times } from '../../support/service.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

describeOnEachDatabase('a webhook in the course of time', (openUrl) => {
  let receiver: WebhookReceiver
  const service = setUpService(async () => {
    receiver = await startWebhookReceiver()
    return startService(await openUrl(), {
      config: { ...webhooksTo(receiver), session: { idle_seconds: 864_000, absolute_seconds: 864_000 } },
      ports: { now },
    })
  })
  let ada: Person
  let grace: Person
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    conversation_id = (await ada.conversations.create({ title: 'one' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })

  beforeEach(async () => {
    for (const { id } of (await ada.webhooks.list()).webhooks) await ada.webhooks.remove(id)
    receiver.calls.length = 0
    receiver.answer = () => 204
  })

  const post = (content: string) => grace.messages.postRoot(conversation_id, { content })
  const signatures = async (content: string) => {
    await post(content)
    await vi.waitFor(() => expect(receiver.contents()).toContain(content), PATIENT)
    const { headers } = receiver.calls.find(({ event }) => event.data.message?.content === content)!
    return String(headers['webhook-signature']).split(' ').length
  }

  it('sends nothing more from the moment at which the key that made it expires', async () => {
    const expires_at = new Date(now() / 1000 + 60_000).toISOString()
    const { key } = await ada.keys.create({ name: 'short', expires_at })
    const { webhook } = await createAdminClient({ base_url: service.base_url, api_key: key }).webhooks.create({
      url: receiver.url,
    })
    await post('before')
    await receiver.waitFor(1)
    ahead += 61 * SECOND
    await post('after')
    await vi.waitFor(
      async () => expect((await ada.webhooks.get(webhook.id)).webhook.disabled_reason).toBe('key'),
      PATIENT,
    )
    expect(receiver.contents()).toEqual(['before'])
  })

  it('makes its bot present, by what the bot receives', async () => {
    const { bot } = await ada.bots.create({ username: 'crier' })
    await ada.participants.add(conversation_id, { user_id: bot.id })
    await ada.webhooks.create({ url: receiver.url, bot_id: bot.id })
    const status = async () => (await ada.presence.list({ user_ids: bot.id })).presence[0]!.status
    receiver.answer = () => 500
    await post('failed')
    await receiver.waitFor(1)
    expect(await status()).toBe('offline')
    receiver.answer = () => 204
    await post('taken')
    await expect.poll(status, PATIENT).toBe('online')
  })

  it('keeps a thousand of the events that it was sent, also if few come at a time', async () => {
    const { webhook } = await ada.webhooks.create({ url: receiver.url })
    const { db } = innerState(service)
    await db.write(async (tx) => {
      for (const n of times(1_100, (n) => n))
        await tx.run(
          sql`INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, event_number, position, status, at)
                VALUES (${`00000000-${n}`}, ${webhook.id}, ${`evt_${n}`}, 'message.new', ${n}, '', 'delivered', 1)`,
        )
    })
    await post('one')
    await vi.waitFor(async () => {
      const row = await db.get<{ count: number }>(
        sql`SELECT count(*) AS count FROM webhook_deliveries WHERE webhook_id = ${webhook.id}`,
      )
      expect(row!.count).toBe(1_000)
    }, PATIENT)
  })

  it('is late by what it was not called with yet, as by what is sent again', async () => {
    const { webhook } = await ada.webhooks.create({ url: receiver.url, parallel: 1 })
    const { db, config } = innerState(service)
    // A process knows what is sent again of all webhooks, and what is sent first of its own.
    const levels = async () => Promise.all(service.nodes.map((node) => innerState(node).webhooks.levels()))
    const lag = async () => [
      (await ada.webhooks.get(webhook.id)).webhook.lag_seconds,
      Math.max(...(await levels()).map(({ lag_seconds }) => lag_seconds)),
      (await checkWebhooks(config, db, now())).some(({ code }) => code === 'webhooks.late'),
    ]
    expect(await lag()).toEqual([0, 0, false])
    receiver.answer = ({ event }) => (event.data.message.content === 'hangs' ? () => {} : 500)
    await post('hangs')
    await receiver.waitFor(1)
    await post('behind')
    ahead += 2 * HOUR
    const isLate = [expect.toSatisfy((lag) => lag > 7_000), expect.toSatisfy((lag) => lag > 7_000), true]
    expect(await lag()).toEqual(isLate)
    await ada.webhooks.change(webhook.id, { enabled: false })
    await ada.webhooks.change(webhook.id, { enabled: true })
    await vi.waitFor(
      async () => expect((await levels()).map(({ parked }) => parked)).toEqual(service.nodes.map(() => 2)),
      PATIENT,
    )
    expect(await lag()).toEqual(isLate)
  })

  it('signs with its former secret for a day after it was replaced, also while it is never idle', async () => {
    // Of no session, which would have to be confirmed by now.
    const actor = await service.chat.users.actor(ada.id)
    const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url })
    expect(await signatures('before')).toBe(1)
    // Before a success it has one call at a time.
    await vi.waitFor(
      async () => expect((await ada.webhooks.get(webhook.id)).webhook).toHaveProperty('last_success_at'),
      PATIENT,
    )
    await service.chat.webhooks.rotate(actor, webhook.id)
    const hanging: (() => void)[] = []
    onTestFinished(() => hanging.forEach((end) => void end()))
    receiver.answer = ({ event }) =>
      event.data.message.content === 'hangs' ? (response) => void hanging.push(() => response.end()) : 204
    expect(await signatures('hangs')).toBe(2)
    expect(await signatures('within')).toBe(2)
    ahead += DAY
    expect(await signatures('later')).toBe(1)
  })
})
