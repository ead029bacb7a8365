import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Actor, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

describeOnEachDatabase('the inbox of who has a webhook that is disabled', (openUrl) => {
  let receiver: WebhookReceiver
  const told: string[] = []
  const service = setUpService(async () => {
    receiver = await startWebhookReceiver()
    const notify = ({ kind, webhook }: { kind: string; webhook?: { host: string } | undefined }) =>
      void (kind === 'system' && told.push(webhook!.host))
    return startService(await openUrl(), { config: webhooksTo(receiver), ports: { notify } })
  })
  let actor: Actor
  let ada: Person
  let grace: Person
  let conversation_id: string
  let host: string
  let cookie: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actor = await service.chat.users.actor(ada.id)
    conversation_id = (await ada.conversations.create({ title: 'one' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
    cookie = (await signInByHand(service.base_url, ada.email, PASSWORD)).cookie
    host = `127.0.0.1:${receiver.port}`
  })

  beforeEach(async () => {
    for (const { id } of (await service.chat.webhooks.list(actor)).webhooks)
      await service.chat.webhooks.remove(actor, id)
    told.length = 0
  })

  /** A webhook that has had no success for more than five days. */
  async function fail(bot_id?: string): Promise<string> {
    receiver.answer = () => 500
    const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url, bot_id, bots: true })
    const days = Math.round(5.1 * 86_400_000)
    await innerState(service).db.write((tx) =>
      tx.run(sql`UPDATE webhooks SET failing_since = ${(Date.now() - days) * 1000} WHERE id = ${webhook.id}`),
    )
    await grace.messages.postRoot(conversation_id, { content: 'one' })
    await vi.waitFor(
      async () =>
        expect((await service.chat.webhooks.get(actor, webhook.id)).webhook).toMatchObject({
          disabled_reason: 'failing',
        }),
      PATIENT,
    )
    return webhook.id
  }

  const inbox = async (query: Parameters<Person['notifications']['list']>[0] = { unread: true }) =>
    await ada.notifications.list({ kind: 'system', ...query })
  const shown = async () => (await inbox()).notifications
  const countUnread = async () => (await ada.notifications.list()).unread
  const sound = async () => expect((await service.chat.ops.fsck()).findings).toEqual([])

  it('names the webhook, on the streams, in the list and to the host', async () => {
    const before = await countUnread()
    const stream = await openStream(service.base_url, undefined, { cookie })
    const id = await fail()
    const [made] = await shown()
    expect(made).toEqual({ id: expect.any(String), kind: 'system', at: expect.any(String), webhook: { id, host } })
    const { event } = (
      await stream.until(
        'notification.new',
        ({ type, payload }) => type === 'notification.new' && payload.notification.kind === 'system',
      )
    ).at(-1)!
    expect(event.payload).toEqual({ notification: made, unread: before + 1 })
    await stream.close()
    await service.idle()
    expect(told).toEqual([host])
    expect(await countUnread()).toBe(before + 1)
    expect((await ada.notifications.list({ conversation: conversation_id })).notifications).not.toContainEqual(made)
    expect((await grace.notifications.list({ kind: 'system' })).notifications).toEqual([])
    await sound()
  })

  it('is read by its id, up to it, and with everything', async () => {
    await fail()
    const [one] = await shown()
    const before = await countUnread()
    await grace.notifications.markRead({ ids: [one!.id] })
    await ada.notifications.markRead({ ids: [one!.id] })
    expect([await shown(), await countUnread()]).toEqual([[], before - 1])
    expect((await inbox({ unread: false })).notifications[0]).toEqual({ ...one, read_at: expect.any(String) })
    await fail()
    const [two] = await shown()
    await ada.notifications.markRead({ up_to: two!.id })
    expect([await shown(), await countUnread()]).toEqual([[], 0])
    await fail()
    expect(await countUnread()).toBe(1)
    const stream = await openStream(service.base_url, undefined, { cookie })
    await ada.conversations.markAllRead({})
    await stream.until('notification.read')
    await stream.close()
    expect([await shown(), await countUnread()]).toEqual([[], 0])
    await sound()
  })

  it('tells of the webhooks of bots too, and no more when the webhook is gone', async () => {
    const { bot } = await service.chat.bots.create(actor, { username: 'crier' })
    await ada.participants.add(conversation_id, { user_id: bot.id })
    const id = await fail(bot.id)
    expect(await shown()).toMatchObject([{ webhook: { id } }])
    const before = await countUnread()
    await service.chat.webhooks.remove(actor, id)
    expect([await shown(), await countUnread()]).toEqual([[], before - 1])
    await sound()
  })

  it('tells no more of the webhook of a bot that was given to another user', async () => {
    const { bot } = await service.chat.bots.create(actor, { username: 'herald' })
    await ada.participants.add(conversation_id, { user_id: bot.id })
    await fail(bot.id)
    const before = await countUnread()
    await service.chat.users.change(OPERATOR, bot.id, { owner_id: grace.id })
    expect([await shown(), await countUnread()]).toEqual([[], before - 1])
    expect((await grace.notifications.list({ kind: 'system' })).notifications).toEqual([])
    await sound()
    await service.chat.users.change(OPERATOR, bot.id, { owner_id: ada.id })
  })

  it('says nothing of a webhook that its receiver ended, nor of one of the operator', async () => {
    receiver.answer = () => 410
    const own = await service.chat.webhooks.create(actor, { url: receiver.url })
    const all = await service.chat.webhooks.create(OPERATOR, { url: receiver.url })
    await grace.messages.postRoot(conversation_id, { content: 'one' })
    for (const { webhook } of [own, all])
      await vi.waitFor(
        async () =>
          expect((await service.chat.webhooks.get(OPERATOR, webhook.id)).webhook).toMatchObject({
            disabled_reason: 'gone',
          }),
        PATIENT,
      )
    expect(await shown()).toEqual([])
    await service.chat.webhooks.remove(OPERATOR, all.webhook.id)
  })
})
