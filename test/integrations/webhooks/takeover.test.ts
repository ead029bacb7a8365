import { expect, it, onTestFinished, vi } from 'vitest'
import { createWebhookEngine } from '../../../lib/integrations/webhooks/engine.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, times } from '../../support/service.ts'
import { startWebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 50 }

describeOnEachDatabase('webhooks of several processes', (openUrl) => {
  async function start(url: string, config: object) {
    const service = await startService(url, { config })
    let isOpen = true
    const close = async () => {
      if (isOpen) await service.close()
      isOpen = false
    }
    onTestFinished(close)
    return { ...service, close }
  }

  async function setUp() {
    const receiver = await startWebhookReceiver()
    onTestFinished(() => receiver.close())
    const url = await openUrl()
    const config = webhooksTo(receiver)
    const service = await start(url, config)
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const actor = await service.chat.users.actor(ada.id)
    const other = await service.chat.users.actor(grace.id)
    const { conversation_id } = await ada.conversations.create({ title: 'one' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const post = (content: string, { chat } = service) => chat.messages.postRoot(other, conversation_id, { content })
    const second = await ada.conversations.create({ title: 'two' })
    await ada.participants.add(second.conversation_id, { user_id: grace.id })
    const elsewhere = (content: string) => service.chat.messages.postRoot(other, second.conversation_id, { content })
    return { receiver, url, config, service, actor, post, elsewhere }
  }

  it('sends each event from one of two processes, whichever has written it', async () => {
    const { receiver, url, config, service, actor, post } = await setUp()
    const node = await start(url, config)
    await service.chat.webhooks.create(actor, { url: receiver.url })
    for (const n of times(10, (n) => n)) await post(`${n}`, n % 2 === 0 ? service : node)
    await receiver.waitFor(10)
    await service.idle()
    expect(receiver.contents().toSorted()).toEqual(times(10, (n) => `${n}`))
  })

  it('goes on in another process when one has died, with what was not settled', async () => {
    const { receiver, url, config, service, actor, post } = await setUp()
    const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url })
    await post('one')
    await receiver.waitFor(1)
    await service.close()
    const node = await start(url, config)
    await post('two', node)
    await receiver.waitFor(2)
    // A process that died a while ago still has its name in the lease.
    await innerState(node.chat).db.write((tx) =>
      tx.run(sql`UPDATE webhooks SET writer = 'dead', lease_expires_at = 1 WHERE id = ${webhook.id}`),
    )
    await post('three', node)
    // A death may repeat what was not stored.
    await vi.waitFor(() => expect([...new Set(receiver.contents())]).toEqual(['one', 'two', 'three']), PATIENT)
  })

  it('calls nothing once another process has deleted the webhook, though it was sending by then', async () => {
    const { receiver, url, config, service, actor, post } = await setUp()
    await service.close()
    const composing = { deleted: '' }
    const node = await startService(url, {
      config,
      wrap: (storage) => {
        const { get, write } = storage.db
        const getLater: typeof get = async (query) => {
          if (composing.deleted !== '' && /event_histories/.test(query.text))
            await write((tx) => tx.run(sql`DELETE FROM webhooks WHERE id = ${composing.deleted}`))
          return get(query)
        }
        return { ...storage, db: { ...storage.db, get: getLater } }
      },
    })
    onTestFinished(() => node.close())
    const { webhook } = await node.chat.webhooks.create(actor, { url: receiver.url })
    await post('before', node)
    await receiver.waitFor(1)
    await node.idle()
    composing.deleted = webhook.id
    await post('deleted', node)
    await vi.waitFor(async () => expect((await node.chat.webhooks.list(actor)).webhooks).toEqual([]), PATIENT)
    await node.chat.webhooks.create(actor, { url: receiver.url })
    await post('after', node)
    await receiver.waitFor(2)
    expect(receiver.contents()).toEqual(['before', 'after'])
  })

  it.each(['none', 'conversation'] as const)(
    'sends again only what was not settled when one has died behind an event that hangs, with the order `%s`',
    async (order) => {
      const { receiver, url, config, service, actor, post, elsewhere } = await setUp()
      const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url, order })
      await post('first')
      await receiver.waitFor(1)
      const isStored = async (count: number) => {
        const { deliveries } = await service.chat.webhooks.listDeliveries(actor, webhook.id, { limit: 200 })
        expect(deliveries.filter(({ status }) => status === 'delivered')).toHaveLength(count)
      }
      await vi.waitFor(() => isStored(1), PATIENT)
      receiver.answer = ({ event }) => (event.data.message.content === 'hangs' ? () => {} : 204)
      await post('hangs')
      await receiver.waitFor(2)
      // In `conversation` it waits for the one before it, with all the others settled behind it.
      await post('behind')
      const others = times(60, (n) => `${n}`)
      for (const content of others) await elsewhere(content)
      const settled = 1 + others.length + (order === 'none' ? 1 : 0)
      await vi.waitFor(() => isStored(settled), PATIENT)
      receiver.answer = () => 204
      // As if the process had died: its lease has lapsed, and what it stores is refused.
      const node = await start(url, config)
      await innerState(node.chat).db.write((tx) =>
        tx.run(sql`UPDATE webhooks SET writer = 'dead', lease_expires_at = 1 WHERE id = ${webhook.id}`),
      )
      await post('last', node)
      await vi.waitFor(() => expect(receiver.contents()).toContain('last'), PATIENT)
      await vi.waitFor(() => expect(receiver.contents().filter((each) => each === 'hangs')).toHaveLength(2), PATIENT)
      await vi.waitFor(() => isStored(4 + others.length), PATIENT)
      expect(receiver.contents().toSorted()).toEqual(
        ['first', 'hangs', 'hangs', 'behind', 'last', ...others].toSorted(),
      )
    },
  )

  it('are given to others as soon as their process drains, without waiting for a receiver that hangs', async () => {
    const { receiver, service, actor, post } = await setUp()
    const { db } = innerState(service)
    const [free, busy] = await Promise.all([
      service.chat.webhooks.create(actor, { url: receiver.url }),
      service.chat.webhooks.create(actor, { url: `${receiver.url}/hangs` }),
    ])
    receiver.answer = ({ headers }) => (headers['x-chat-server-webhook'] === busy.webhook.id ? () => {} : 204)
    await post('one')
    await receiver.waitFor(2)
    await vi.waitFor(
      async () =>
        expect((await service.chat.webhooks.get(actor, free.webhook.id)).webhook).toHaveProperty('last_success_at'),
      PATIENT,
    )
    for (const { drain } of service.nodes) drain()
    const leaseOf = async ({ webhook: { id } }: typeof free) =>
      (await db.get<{ until: number }>(sql`SELECT lease_expires_at AS until FROM webhooks WHERE id = ${id}`))!.until
    await vi.waitFor(async () => expect(await leaseOf(free)).toBe(0), PATIENT)
    expect(await leaseOf(busy)).toBeGreaterThan(0)
    await vi.waitFor(async () => expect(await leaseOf(busy)).toBe(0), PATIENT)
  })

  it.each([5, 59])('are taken from a process that has died at the next second, which is the %ith', async (ticks) => {
    const { receiver, url, config, service, actor } = await setUp()
    const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url })
    await service.close()
    const node = await start(url, { ...config, webhooks: { enabled: false } })
    const ctx = innerState(node)
    const engine = createWebhookEngine({
      ...ctx,
      config: { ...ctx.config, webhooks: { ...ctx.config.webhooks, enabled: true } },
    })
    onTestFinished(() => engine.close())
    for (const _ of times(ticks, (n) => n)) await engine.tick()
    await ctx.db.write((tx) =>
      tx.run(sql`UPDATE webhooks SET writer = 'dead', lease_expires_at = 1 WHERE id = ${webhook.id}`),
    )
    await engine.tick()
    await vi.waitFor(async () => {
      const row = await ctx.db.get<{ writer: string }>(sql`SELECT writer FROM webhooks WHERE id = ${webhook.id}`)
      expect(row!.writer).not.toBe('dead')
    }, PATIENT)
  })

  it('are sent what another process has written at once, also while a call hangs', async () => {
    const { receiver, url, config, service, actor, post } = await setUp()
    const node = await start(url, config)
    const { webhook } = await node.chat.webhooks.create(actor, { url: receiver.url })
    await post('first', node)
    const isStored = async () =>
      expect((await node.chat.webhooks.get(actor, webhook.id)).webhook).toHaveProperty('last_success_at')
    await vi.waitFor(isStored, PATIENT)
    receiver.answer = ({ event }) => (event.data.message.content === 'hangs' ? () => {} : 204)
    await post('hangs', node)
    await receiver.waitFor(2)
    await post('elsewhere', service)
    await receiver.waitFor(3)
    expect(receiver.contents()).toEqual(['first', 'hangs', 'elsewhere'])
  })

  it('sends all again from a place to which its owner has moved it, also what was settled out of order', async () => {
    const { receiver, service, actor, post, elsewhere } = await setUp()
    const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url })
    await post('first')
    await receiver.waitFor(1)
    await vi.waitFor(
      async () =>
        expect((await service.chat.webhooks.get(actor, webhook.id)).webhook).toHaveProperty('last_success_at'),
      PATIENT,
    )
    receiver.answer = ({ event }) => (event.data.message.content === 'hangs' ? () => {} : 204)
    await post('hangs')
    await receiver.waitFor(2)
    await elsewhere('other')
    await receiver.waitFor(3)
    await vi.waitFor(async () => {
      const row = await innerState(service.chat).db.get(sql`SELECT 1 AS found FROM webhooks WHERE ahead IS NOT NULL`)
      expect(row).toBeDefined()
    }, PATIENT)
    receiver.answer = () => 204
    await service.chat.webhooks.replay(actor, webhook.id, { since: webhook.position })
    await vi.waitFor(
      () => expect(receiver.contents().slice(3).toSorted()).toEqual(['first', 'hangs', 'other']),
      PATIENT,
    )
  })

  it('sends after a start what was written before it, and what waits for another attempt', async () => {
    const { receiver, url, config, service, actor, post } = await setUp()
    await service.chat.webhooks.create(actor, { url: receiver.url })
    receiver.answer = () => 500
    await post('failed')
    await receiver.waitFor(1)
    await service.close()
    receiver.answer = () => 204
    const silent = await start(url, { ...config, webhooks: { enabled: false } })
    await post('missed', silent)
    await silent.close()
    await start(url, config)
    await receiver.waitFor(3)
    expect(receiver.contents().toSorted()).toEqual(['failed', 'failed', 'missed'])
  })

  it('runs no statement for idle webhooks, however many they are', async () => {
    const { receiver, url, config, service, actor, post } = await setUp()
    await service.close()
    const counted = { statements: 0 }
    const node = await startService(url, {
      config: { ...config, webhooks: { ...config.webhooks, max_per_user: 100 } },
      wrap: (storage) => {
        for (const name of ['all', 'get', 'run'] as const) {
          const { [name]: original } = storage.db
          Object.assign(storage.db, {
            [name]: (...args: Parameters<typeof original>) => {
              if (/webhook/.test(args[0].text)) counted.statements++
              return (original as (...args: unknown[]) => unknown).apply(storage.db, args)
            },
          })
        }
        return storage
      },
    })
    onTestFinished(() => node.close())
    for (const _ of times(50, (n) => n))
      await node.chat.webhooks.create(actor, { url: receiver.url, types: ['pin.changed'] })
    await vi.waitFor(() => expect(counted.statements).toBeGreaterThan(0), PATIENT)
    counted.statements = 0
    for (const n of times(100, (n) => n)) await post(`${n}`, node)
    // What is left is of the clock, and not of posts or webhooks.
    expect(counted.statements).toBeLessThan(20)
    expect(receiver.calls).toEqual([])
  })
})
