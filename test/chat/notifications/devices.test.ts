import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ConversationStreamEvent } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, type Person, startService, type TestService } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

describeOnEachDatabase('what is read on one device', (openUrl) => {
  let here: TestService
  let there: TestService
  let ada: Person
  let grace: Person
  let conversation_id: string
  const streams: TestStream[] = []
  beforeAll(async () => {
    const url = await openUrl()
    const config = { session: { max_sessions_per_user: 50 } }
    here = await startService(url, { config })
    there = await startService(url, { config })
    const nodes = [...here.nodes, ...there.nodes].map((node) => innerState(node).cluster)
    await vi.waitUntil(() => nodes.every((node) => node.countNodes() === nodes.length), { timeout: 30_000 })
    ada = await here.signIn('ada')
    grace = await here.signIn('grace')
    conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })
  afterAll(async () => {
    await Promise.all(streams.map((stream) => stream.close()))
    await Promise.all([here.close(), there.close()])
  })

  /** A stream of grace on another device, whose first events have arrived. @returns with the number of unread notifications */
  async function device(at: TestService): Promise<{ stream: TestStream; unread: number }> {
    const { cookie } = await signInByHand(at.base_url, grace.email, PASSWORD)
    const stream = await openStream(at.base_url, undefined, { cookie })
    streams.push(stream)
    const { event } = (await stream.until('notifications.count')).at(-1)!
    return { stream, unread: (event.payload as { unread: number }).unread }
  }

  const badges = async () => {
    const { conversations } = await grace.conversations.list()
    const { unread } = await grace.notifications.list({ unread: true })
    const { mentions, unread: messages } = conversations.find(({ id }) => id === conversation_id)!
    return { mentions, messages, unread }
  }

  it('is read on all of them, on every node, and on one that was away', async () => {
    const [near, far] = [await device(here), await device(there)]
    const { unread: before } = far
    const { root_id, message_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello @grace' })
    const { message_id: second } = await ada.messages.reply(message_id, { content: 'Are you there, @grace?' })
    for (const { stream } of [near, far]) await stream.until('notification.new', isAbout(second))
    expect(await badges()).toEqual({ mentions: 2, messages: 2, unread: before + 2 })

    // Reading a thread also reads that grace was added to the conversation.
    const after = before - 1
    await grace.threads.markRead(root_id)
    expect(await badges()).toEqual({ mentions: 0, messages: 0, unread: after })
    const { created_at: as_of } = await grace.messages.get(second)
    const counts = { unread: 0, unread_replies: 0, conversation_unread: 0, conversation_unread_replies: 0, as_of }
    for (const { stream } of [near, far]) {
      const events = await stream.until('notification.read')
      expect(events.at(-1)!.event.payload).toMatchObject({ unread: after })
      // The replies were told of, too.
      const isRead = (event: ConversationStreamEvent) => event.type === 'unread.update' && event.payload.unread === 0
      const seen = [
        ...events,
        ...(events.some(({ event }) => isRead(event)) ? [] : await stream.until('unread.update', isRead)),
      ]
      const update = seen.find(({ event }) => isRead(event))!.event
      expect(update.payload).toEqual({ conversation_id, root_id, ...counts })
    }
    expect((await device(there)).unread).toBe(after)
  })

  it('is gone on all of them also when the message is deleted, or no longer mentions the user', async () => {
    const far = await device(there)
    const post = async () => (await ada.messages.postRoot(conversation_id, { content: 'Hi @grace' })).message_id
    for (const end of [
      (id: string) => ada.messages.remove(id),
      (id: string) => ada.messages.edit(id, { content: 'Hi' }),
    ]) {
      const id = await post()
      await far.stream.until('notification.new', isAbout(id))
      await end(id)
      expect((await far.stream.until('notifications.count')).at(-1)!.event.payload).toEqual({ unread: far.unread })
      expect(await badges()).toMatchObject({ mentions: 0, unread: far.unread })
    }
  })

  it('is gone on all of them when the author of the replies is erased with the messages', async () => {
    const eve = await here.signIn('eve')
    await ada.participants.add(conversation_id, { user_id: eve.id })
    const far = await device(there)
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { message_id } = await eve.messages.reply(root_id, { content: 'Buy' })
    await far.stream.until('notification.new', isAbout(message_id))
    await here.chat.users.erase({ user_id: '', roles: ['admin'] }, eve.id, { messages: 'erase' })
    const isBefore = (event: ConversationStreamEvent) =>
      event.type === 'notifications.count' && event.payload.unread === far.unread
    await far.stream.until('notifications.count', isBefore)
  })
})

const isAbout = (id: string) => (event: object) => JSON.stringify(event).includes(id)
