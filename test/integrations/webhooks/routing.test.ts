import { beforeAll, expect, it, vi } from 'vitest'
import type { Storage } from '../../../lib/storage/open.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService } from '../../support/service.ts'
import { startWebhookReceiver, type WebhookReceiver, webhooksTo } from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 20 }

/** What happens, once, while it is read who sees new events; and what is called when active webhooks were listed. */
const at: { seen?: () => Promise<unknown>; listed?: () => void } = {}

function paused(storage: Storage): Storage {
  const { db } = storage
  return {
    ...storage,
    db: {
      ...db,
      all: async (sql) => {
        const { seen } = at
        if (seen && sql.text.startsWith('SELECT p.conversation_id, p.user_id, p.joined_at')) {
          delete at.seen
          await seen()
        }
        const rows = await db.all(sql)
        if (/FROM webhooks WHERE status = 'active'/.test(sql.text)) at.listed?.()
        return rows as never
      },
    },
  }
}

describeOnEachDatabase('while it is read who sees new events', (openUrl) => {
  let receiver: WebhookReceiver
  const service = setUpService(async () => {
    receiver = await startWebhookReceiver()
    return startService(await openUrl(), { config: webhooksTo(receiver), wrap: paused })
  })
  let ada: Person
  let grace: Person
  /** Who posts: an own message is not sent to a webhook. */
  let linus: Person
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    linus = await service.signIn('linus')
    ;({ conversation_id } = await ada.conversations.create({ title: 'one' }))
    for (const { id } of [grace, linus]) await ada.participants.add(conversation_id, { user_id: id })
  })

  const create = async (by: Person) => {
    const actor = await service.chat.users.actor(by.id)
    const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url, types: ['message.new'] })
    return webhook.id
  }
  const sentTo = (id: string) =>
    receiver.calls
      .filter(({ headers }) => headers['x-chat-server-webhook'] === id)
      .map(({ body }) => JSON.parse(body).data.message.content)

  /** Posts, and creates a webhook while it is read who sees that. @returns its id, once the list of webhooks has it */
  async function createWhile(by: Person, content: string): Promise<string> {
    let id = ''
    at.seen = async () => {
      const listed = new Promise<void>((resolve) => {
        at.listed = resolve
      })
      id = await create(by)
      await listed
      // What the list is used for follows at once.
      await new Promise(setImmediate)
    }
    await linus.messages.postRoot(conversation_id, { content })
    await vi.waitFor(() => expect(id).not.toBe(''), PATIENT)
    await vi.waitFor(() => expect(at.seen).toBeUndefined(), PATIENT)
    delete at.listed
    return id
  }

  it('a webhook that was there gets them, whichever other webhooks come', async () => {
    const first = await create(ada)
    // The list of webhooks is not being read any more.
    await linus.messages.postRoot(conversation_id, { content: 'begun' })
    await vi.waitFor(() => expect(sentTo(first)).toEqual(['begun']), PATIENT)
    const second = await createWhile(grace, 'to the first')
    await vi.waitFor(() => expect(sentTo(first)).toEqual(['begun', 'to the first']), PATIENT)
    const third = await createWhile(ada, 'to both')
    await linus.messages.postRoot(conversation_id, { content: 'to all' })
    await vi.waitFor(() => expect(sentTo(first)).toEqual(['begun', 'to the first', 'to both', 'to all']), PATIENT)
    await vi.waitFor(() => expect(sentTo(second)).toEqual(['to both', 'to all']), PATIENT)
    // What was before a webhook is not for it.
    await vi.waitFor(() => expect(sentTo(third)).toEqual(['to all']), PATIENT)
  })
})
