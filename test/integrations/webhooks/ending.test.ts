import * as v from 'valibot'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Actor, type Mail, OPERATOR } from '../../../lib/index.ts'
import type { WebhookOfActor } from '../../../lib/integrations/webhooks/schema.ts'
import { WebhookGapData } from '../../../lib/integrations/webhooks/schema-sent.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, type Person, startService } from '../../support/service.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

describeOnEachDatabase('a webhook whose receiver fails', (openUrl) => {
  let receiver: WebhookReceiver
  const mails: Mail[] = []
  const service = setUpService(async () => {
    receiver = await startWebhookReceiver()
    const ports = { mail: (mail: Mail) => void mails.push(mail) }
    return startService(await openUrl(), { config: webhooksTo(receiver), ports })
  })
  let actor: Actor
  let grace: Person
  let conversation_id: string
  let db: Database

  beforeAll(async () => {
    db = innerState(service.chat).db
    const ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actor = await service.chat.users.actor(ada.id)
    conversation_id = (await ada.conversations.create({ title: 'one' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await db.write((tx) => tx.run(sql`UPDATE users SET email_verified_at = 1`))
  })

  beforeEach(async () => {
    for (const { id } of (await service.chat.webhooks.list(actor)).webhooks)
      await service.chat.webhooks.remove(actor, id)
    receiver.calls.length = 0
    receiver.answer = () => 204
    mails.length = 0
  })

  const create = async (input: Partial<WebhookOfActor> = {}) =>
    (await service.chat.webhooks.create(actor, { url: receiver.url, ...input })).webhook
  const post = (content: string) => grace.messages.postRoot(conversation_id, { content })
  const find = async (id: string) => (await service.chat.webhooks.get(actor, id)).webhook
  const gaps = () => receiver.calls.filter(({ type }) => type === 'webhook.gap').map(({ event }) => event.data)
  const parked = (id: string, count: number) =>
    vi.waitFor(async () => expect(await find(id)).toMatchObject({ parked: count }), PATIENT)
  /** Has what waits sent again at once, for the last time. */
  const sendLast = () =>
    db.write((tx) =>
      tx.run(
        sql`UPDATE webhook_deliveries SET attempt_count = 9, attempts = '[]', next_at = 1 WHERE status = 'pending'`,
      ),
    )

  it('is disabled by 410: its owner is mailed, and the audit log says why', async () => {
    receiver.answer = () => 410
    const { id } = await create()
    await post('one')
    await vi.waitFor(() => expect(mails).toHaveLength(1), PATIENT)
    expect(mails[0]).toMatchObject({ kind: 'webhook_disabled', to: expect.stringContaining('ada') })
    expect(mails[0]!.text).toContain(`127.0.0.1:${receiver.port} was disabled: its receiver answered`)
    const { entries } = await service.chat.audit.list(OPERATOR, { subject_id: id, limit: 1 })
    expect(entries).toMatchObject([{ act: 'webhook.changed', detail: { reason: 'gone', changed: ['status'] } }])
    expect(entries[0]).not.toHaveProperty('actor_id')
  })

  it('is disabled after five days without a success, and not before', async () => {
    receiver.answer = () => 500
    const { id } = await create()
    await post('one')
    await parked(id, 1)
    const failed = (days: number) =>
      db.write(async (tx) => {
        await tx.run(
          sql`UPDATE webhooks SET writer = NULL, lease_expires_at = NULL,
                     failing_since = ${(Date.now() - Math.round(days * 86_400_000)) * 1000} WHERE id = ${id}`,
        )
        await tx.run(sql`UPDATE webhook_deliveries SET next_at = 1 WHERE status = 'pending'`)
      })
    await failed(4.9)
    await receiver.waitFor(2)
    await failed(5.1)
    await vi.waitFor(
      async () => expect(await find(id)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' }),
      PATIENT,
    )
    await vi.waitFor(() => expect(mails[0]?.text).toContain('no call has succeeded for five days'), PATIENT)
  })

  it('is told of each event that was given up, before what comes next', async () => {
    receiver.answer = ({ event }) => (event.data.message?.content === 'bad' ? 400 : 204)
    const { id } = await create({ parallel: 1 })
    const bad = [await post('bad'), await post('bad')]
    await parked(id, 2)
    await sendLast()
    await parked(id, 0)
    await post('after')
    await vi.waitFor(() => expect(receiver.contents()).toContain('after'), PATIENT)
    expect(gaps()).toMatchObject(bad.map(() => ({ reason: 'dead', truncated: true, conversation_id })))
    expect(new Set(gaps().map(({ event_id }) => event_id)).size).toBe(2)
    expect(receiver.calls.at(-1)!.event.data.message.content).toBe('after')
  })

  it('is told of an event that the log has lost before it was sent again', async () => {
    receiver.answer = ({ event }) => (event.data.message?.content === 'bad' ? 500 : 204)
    const { id } = await create()
    const { message_id } = await post('bad')
    await parked(id, 1)
    await db.write(async (tx) => {
      await tx.run(sql`DELETE FROM events WHERE message_id = ${message_id}`)
      await tx.run(sql`UPDATE webhook_deliveries SET next_at = 1 WHERE status = 'pending'`)
    })
    await vi.waitFor(() => expect(gaps()).toMatchObject([{ reason: 'age', conversation_id }]), PATIENT)
    await vi.waitFor(async () => {
      const { deliveries } = await service.chat.webhooks.listDeliveries(actor, id)
      expect(deliveries).toMatchObject([{ event_id: gaps()[0].event_id, status: 'dead' }])
    }, PATIENT)
  })

  it('keeps the pause that it has asked for when a call succeeds that was on its way', async () => {
    const slow: (() => void)[] = []
    receiver.answer = ({ event }) => {
      if (event.data.message.content === 'slow') return (response) => void slow.push(() => response.end())
      return event.data.message.content === 'busy' ? { status: 429, headers: { 'retry-after': '3600' } } : 204
    }
    const { id } = await create({ parallel: 2 })
    await post('first')
    await vi.waitFor(async () => expect(await find(id)).toHaveProperty('last_success_at'), PATIENT)
    await post('slow')
    await receiver.waitFor(2)
    await post('busy')
    const paused = () =>
      db.get<{ until: number | null }>(sql`SELECT paused_until AS until FROM webhooks WHERE id = ${id}`)
    await vi.waitFor(async () => expect((await paused())!.until).not.toBeNull(), PATIENT)
    for (const answer of slow) answer()
    await vi.waitFor(async () => {
      const { deliveries } = await service.chat.webhooks.listDeliveries(actor, id, { status: 'delivered' })
      expect(deliveries).toHaveLength(2)
    }, PATIENT)
    expect((await paused())!.until).toBeGreaterThan(Date.now() * 1000)
  })

  it('sends what waits once when it begins again before it', async () => {
    receiver.answer = () => 500
    const { id, position } = await create()
    await post('one')
    await parked(id, 1)
    receiver.calls.length = 0
    receiver.answer = () => 204
    await service.chat.webhooks.change(actor, id, { since: position })
    await post('two')
    await vi.waitFor(() => expect(receiver.contents()).toEqual(['one', 'two']), PATIENT)
    await vi.waitFor(async () => {
      const { deliveries } = await service.chat.webhooks.listDeliveries(actor, id)
      expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1, 1])
    }, PATIENT)
  })

  it('is told when the log has lost events after the instant from which it is to begin', async () => {
    await db.write((tx) => {
      const name = tx.dialect === 'sqlite' ? 'last_deleted_id' : 'last_deleted_xid'
      return tx.run(
        sql`INSERT INTO meta (name, value) VALUES (${name}, '1') ON CONFLICT (name) DO UPDATE SET value = '1'`,
      )
    })
    const since = new Date(Date.now() - 30 * 86_400_000).toISOString()
    await create({ since })
    await post('next')
    await vi.waitFor(() => expect(gaps()[0]).toMatchObject({ reason: 'since' }), PATIENT)
    const { cursor } = gaps()[0]
    expect(gaps()[0]).toEqual({ cursor, truncated: true, reason: 'since', from: since, to: cursor })
    expect(v.is(v.strictObject(WebhookGapData.entries), gaps()[0])).toBe(true)
  })

  it('is told from where to where the log has lost events, and can read on from there', async () => {
    const { id, position } = await create()
    await service.chat.webhooks.change(actor, id, { enabled: false })
    await post('lost')
    await db.write((tx) =>
      tx.run(
        tx.dialect === 'sqlite'
          ? sql`INSERT INTO meta (name, value) SELECT 'last_deleted_id', CAST(max(id) AS TEXT) FROM events WHERE true
              ON CONFLICT (name) DO UPDATE SET value = excluded.value`
          : sql`INSERT INTO meta (name, value) SELECT 'last_deleted_xid', max(xid::text::bigint)::text FROM events
              ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      ),
    )
    await db.write((tx) => tx.run(sql`DELETE FROM events`))
    await post('kept')
    await service.chat.webhooks.change(actor, id, { enabled: true })
    // What was on its way to webhooks that the tests before have removed may arrive, too.
    await vi.waitFor(() => expect(receiver.contents()).toContain('kept'), PATIENT)
    expect(receiver.contents()).not.toContain('lost')
    const [{ cursor }] = gaps()
    expect(gaps()).toEqual([{ cursor, truncated: true, reason: 'age', from: position, to: cursor }])
    expect(await service.chat.feed.read(actor, { after: cursor })).not.toHaveProperty('reset')
    await create({ since: position })
    await vi.waitFor(() => expect(gaps()[1]).toMatchObject({ reason: 'since' }), PATIENT)
    expect(gaps()[1]).toEqual({ cursor, truncated: true, reason: 'since', from: position, to: cursor })
  })

  /** Disables a webhook as the service does. */
  const end = (id: string, reason: string) =>
    db.write((tx) =>
      tx.run(
        sql`UPDATE webhooks SET status = 'disabled', disabled_reason = ${reason}, writer = NULL, lease_expires_at = NULL
            WHERE id = ${id}`,
      ),
    )

  it.each([
    ['secret_lost', 'its owner', (id: string) => service.chat.webhooks.change(actor, id, { enabled: true })],
    ['restored', 'an administrator', (id: string) => service.chat.webhooks.changeAny(OPERATOR, id, { enabled: true })],
  ])(
    'begins now when it was `%s` and %s enables it, and is told what it was not sent',
    async (reason, _who, enable) => {
      receiver.answer = () => 500
      const { id } = await create()
      await post('waited')
      await parked(id, 1)
      await end(id, reason)
      await post('missed')
      receiver.answer = () => 204
      receiver.calls.length = 0
      await enable(id)
      await parked(id, 0)
      const { position: cursor } = await find(id)
      await post('next')
      await vi.waitFor(() => expect(receiver.contents()).toContain('next'), PATIENT)
      expect(receiver.contents()).toEqual(['next'])
      const told = { cursor, truncated: true, reason: reason === 'restored' ? 'history' : 'since', to: cursor }
      expect(receiver.calls[0]!.event.data).toEqual(told)
      expect(v.is(v.strictObject(WebhookGapData.entries), told)).toBe(true)
    },
  )

  it('names the position after which events are missing, unless some from before it are missing, too', async () => {
    const { id, position: from } = await create()
    await end(id, 'secret_lost')
    await post('missed')
    const { position: cursor } = (await service.chat.webhooks.change(actor, id, { enabled: true })).webhook
    await post('next')
    await vi.waitFor(
      () => expect(gaps()).toEqual([{ cursor, truncated: true, reason: 'since', from, to: cursor }]),
      PATIENT,
    )
  })

  it('is told of what it missed before, also when it is moved meanwhile', async () => {
    const { id, position } = await create()
    const dead = { cursor: position, reason: 'dead', event_id: 'evt_1' }
    await db.write((tx) => tx.run(sql`UPDATE webhooks SET gap = ${JSON.stringify([dead])} WHERE id = ${id}`))
    await service.chat.webhooks.change(actor, id, { since: new Date(Date.now() - 1000).toISOString() })
    await post('next')
    await vi.waitFor(() => expect(receiver.contents()).toContain('next'), PATIENT)
    expect(gaps()).toEqual([{ ...dead, truncated: true }])
  })

  it('sends the events of all conversations again', async () => {
    const { conversation_id: other } = await grace.conversations.create({ title: 'two' })
    await grace.participants.add(other, { user_id: actor.user_id })
    const { id } = await create({ conversation_id: other })
    expect((await service.chat.webhooks.change(actor, id, { conversation_id: null })).webhook).not.toHaveProperty(
      'conversation_id',
    )
    await post('elsewhere')
    await vi.waitFor(() => expect(receiver.contents()).toContain('elsewhere'), PATIENT)
  })
})
