import { afterEach, beforeAll, expect, it } from 'vitest'
import { describeService } from '../../support/describe-service.ts'
import { PASSWORD, type Person } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

describeService('events about the inbox', (service) => {
  let ada: Person
  let grace: Person
  let cookie: string
  let conversation_id: string
  const streams: TestStream[] = []
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    cookie = (await signInByHand(service.base_url, grace.email, PASSWORD)).cookie
    conversation_id = (await ada.conversations.create()).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })
  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.close())))

  /** A stream of grace, of all conversations or of one. */
  async function open(id?: string, last_event_id?: string): Promise<TestStream> {
    const stream = await openStream(service.base_url, id, { cookie, ...(last_event_id && { last_event_id }) })
    streams.push(stream)
    return stream
  }

  const inbox = async () => (await grace.notifications.list({ unread: true })).notifications

  it('begin with the number of unread notifications, also after a reset', async () => {
    await ada.messages.postRoot(conversation_id, { content: '@grace' })
    const { unread } = await grace.notifications.list()
    for (const last_event_id of [undefined, 'of no history']) {
      const events = await (await open(undefined, last_event_id)).until('notifications.count')
      const types = last_event_id ? ['stream.ready', 'stream.reset'] : ['stream.ready']
      expect(events.map(({ event }) => event.type)).toEqual([...types, 'notifications.count'])
      expect(events.at(-1)).toEqual({ event: { type: 'notifications.count', payload: { unread } } })
    }
  })

  it('tell what is new, and what is read, with the number of the unread ones', async () => {
    const stream = await open()
    const begin = (await stream.until('notifications.count')).at(-1)!.event
    const { unread } = begin.payload as { unread: number }
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello @grace' })
    // Another node may tell of an earlier message only now.
    const isAbout = (event: object) => JSON.stringify(event).includes(root_id)
    const made = (await stream.until('notification.new', isAbout)).at(-1)!
    const [first] = await inbox()
    const { mentions } = (await grace.conversations.list({})).conversations.find(({ id }) => id === conversation_id)!
    expect(made).toEqual({
      event: { type: 'notification.new', payload: { notification: first, unread: unread + 1, mentions } },
    })
    expect(first).toMatchObject({ kind: 'mention', excerpt: 'Hello @grace' })
    const added = (await inbox()).find(({ kind }) => kind === 'added')!
    await grace.threads.markRead(root_id)
    const marked = (await stream.until('notification.read')).at(-1)!.event.payload as { ids: string[] }
    expect({ ...marked, ids: marked.ids.sort() }).toEqual({ ids: [added.id, first!.id].sort(), unread: unread - 1 })
    await grace.threads.markUnread(root_id, { message_id: root_id })
    expect((await stream.until('notifications.count')).at(-1)!.event.payload).toEqual({ unread })
    await grace.notifications.markRead({ up_to: first!.id })
    const read = (await stream.until('notification.read')).at(-1)!.event.payload
    expect(read).toEqual({ up_to: first!.id, unread: 0 })
  })

  it('come with the settings when a notification shows an archived conversation again', async () => {
    await grace.conversations.setSettings(conversation_id, { level: 'all', archived: true })
    const stream = await open()
    await stream.until('notifications.count')
    await ada.messages.postRoot(conversation_id, { content: 'Back, @grace' })
    const settings = await grace.conversations.settings(conversation_id)
    expect(settings).toEqual({ level: 'all', archived: false, receipts: true })
    // Another node may tell of the change above only now.
    const isShown = (event: object) => JSON.stringify(event).includes('"archived":false')
    const shown = (await stream.until('settings.update', isShown)).at(-1)!
    expect(shown.event.payload).toEqual({ conversation_id, settings })
    await grace.conversations.setSettings(conversation_id, { level: 'mentions' })
  })

  it('are for the streams of all conversations of the user alone', async () => {
    const own = await open()
    const room = await open(conversation_id)
    const other = await openStream(
      service.base_url,
      undefined,
      await signInByHand(service.base_url, ada.email, PASSWORD),
    )
    streams.push(other)
    await Promise.all([
      own.until('notifications.count'),
      other.until('notifications.count'),
      room.until('stream.ready'),
    ])
    await ada.messages.postRoot(conversation_id, { content: 'one @grace' })
    await own.until('notification.new')
    await ada.messages.postRoot(conversation_id, { content: 'two' })
    for (const stream of [room, other]) {
      const events = await stream.until('message.new', ({ payload }) => JSON.stringify(payload).includes('two'))
      expect(events.map(({ event }) => event.type).filter((type) => type.startsWith('notif'))).toEqual([])
    }
  })

  it.each([
    ['left', (id: string) => grace.participants.remove(id, grace.id)],
    ['taken from the user', (id: string) => ada.participants.remove(id, grace.id)],
    ['deleted', (id: string) => ada.conversations.remove(id)],
  ])('tell the number when a conversation with unread ones is %s', async (_, end) => {
    const { conversation_id: other } = await ada.conversations.create()
    await ada.participants.add(other, { user_id: grace.id })
    await ada.messages.postRoot(other, { content: '@grace' })
    const stream = await open()
    await stream.until('notifications.count')
    const { unread } = await grace.notifications.list()
    await end(other)
    // One for the conversation, and one for the message.
    await stream.until('notifications.count', ({ payload }) => 'unread' in payload && payload.unread === unread - 2)
    expect((await grace.notifications.list()).unread).toBe(unread - 2)
  })

  it('tell the number when the user joins a conversation with unread ones again', async () => {
    const { conversation_id: other } = await ada.conversations.create()
    const join = async () => grace.invites.accept({ token: (await ada.invites.create(other, {})).token! })
    await join()
    await ada.messages.postRoot(other, { content: '@grace' })
    const { unread } = await grace.notifications.list()
    await grace.participants.remove(other, grace.id)
    const stream = await open()
    await stream.until('notifications.count')
    await join()
    await stream.until('notifications.count', ({ payload }) => 'unread' in payload && payload.unread === unread)
  })
})
