import { describe, expect, it } from 'vitest'
import { followedThreadsOf } from '../../../lib/client/store/followed.ts'
import { inboxOf } from '../../../lib/client/store/inbox.ts'
import type { ConversationsView } from '../../../lib/client/store/index.ts'
import { isReady, startThread, waitForView } from './world.ts'

/** Ada's lists of conversations; `engines` is one of them. */
async function startLists(options?: Parameters<typeof startThread>[0]) {
  const world = await startThread(options)
  const { store } = world
  const stops = [store.conversations, store.archived].map((list) => list.subscribe(() => {}))
  await waitForView(store.conversations, isReady)
  await waitForView(store.archived, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  return { ...world, engines: world.conversation_id, stop: () => stops.map((stop) => stop()) }
}

const titlesOf = ({ conversations }: ConversationsView) => conversations.map(({ title }) => title)
const has = (title: string) => (view: ConversationsView) => titlesOf(view).includes(title)

describe('the conversations of a store', () => {
  it('move between the lists when they are archived, here or on another device', async () => {
    const { store, ada, engines, stop } = await startLists()
    expect(await store.setSettings(engines, { archived: true })).toMatchObject({ archived: true })
    expect(await waitForView(store.archived, has('Engines'))).toMatchObject({
      conversations: [{ archived: true, unread: 1 }],
    })
    await waitForView(store.conversations, ({ conversations }) => conversations.length === 0)
    await waitForView(store.unread, (unread) => unread === 0)
    await ada.conversations.setSettings(engines, { archived: false })
    await waitForView(store.conversations, has('Engines'))
    await waitForView(store.archived, ({ conversations }) => conversations.length === 0)
    stop()
  })

  it('come back from the archive with a post of the user', async () => {
    const { store, engines, reply, stop } = await startLists()
    const settings = store.settings(engines)
    const end = settings.subscribe(() => {})
    await store.setSettings(engines, { archived: true })
    await waitForView(store.archived, has('Engines'))
    await waitForView(settings, (view) => view.settings?.archived === true)
    await store.post({ ...reply, content: 'It runs.' })
    await waitForView(store.conversations, has('Engines'))
    await waitForView(store.archived, ({ conversations }) => conversations.length === 0)
    await waitForView(settings, (view) => view.settings?.archived === false)
    end()
    stop()
  })

  it('are not read again for messages of others in archived ones', async () => {
    const { store, grace, network, engines, stop } = await startLists()
    await store.setSettings(engines, { archived: true })
    await waitForView(store.archived, has('Engines'))
    await grace.messages.postRoot(engines, { content: 'Anyone?' })
    network.calls.length = 0
    await waitForView(store.archived, ({ conversations }) => conversations[0]?.unread === 2)
    expect(network.calls).toEqual([])
    stop()
  })

  it('have the newest message, as it is edited, and favourites, without a request', async () => {
    const { store, ada, grace, network, engines, root_id, stop } = await startLists()
    const lastOf = ({ conversations }: ConversationsView) => conversations[0]?.last_message
    // What the beginning of the stream has asked for is read, too.
    for (const list of [store.conversations, store.archived]) await list.reload()
    network.calls.length = 0
    const { message } = await grace.messages.postRoot(engines, { content: 'It runs.' })
    const { id, created_at: at } = message
    const view = await waitForView(store.conversations, (each) => lastOf(each)?.id === id)
    expect(lastOf(view)).toMatchObject({ excerpt: 'It runs.', at, role: 'user' })
    await grace.messages.edit(id, { content: 'It ran.' })
    await waitForView(store.conversations, (each) => lastOf(each)?.excerpt === 'It ran.')
    expect(network.calls).toEqual([])
    const { conversations } = await ada.conversations.list({})
    expect(lastOf(store.conversations.getSnapshot())).toEqual(conversations[0]!.last_message)
    await ada.conversations.setSettings(engines, { favourite: true })
    await waitForView(store.conversations, (each) => each.conversations[0]?.favourite === true)
    await ada.conversations.setSettings(engines, { favourite: false })
    await waitForView(store.conversations, (each) => each.conversations[0]?.favourite === undefined)
    await grace.messages.remove(id)
    await waitForView(store.conversations, (each) => lastOf(each)?.id === root_id)
    stop()
  })

  it('are read again as far as the one that has changed, and keep what comes after it', async () => {
    const { store, ada, grace, actor, network, engines, root_id, stop } = await startLists()
    for (let n = 0; n < 110; n++) await ada.conversations.create({ title: `Number ${n}` })
    const { conversation_id: latest } = await grace.conversations.create({ title: 'Latest' })
    await grace.participants.add(latest, { user_id: actor('ada').user_id })
    const { root_id: latest_root } = await grace.messages.postRoot(latest, { content: 'Read me' })
    const isWhole = ({ conversations, has_more }: ConversationsView) => conversations.length === 112 && !has_more
    await store.conversations.reload()
    while (!isWhole(store.conversations.getSnapshot())) await store.conversations.loadMore()
    await waitForView(store.conversations, ({ conversations }) => conversations[0]?.unread === 1)
    const pages = () => network.calls.filter((call) => call === 'GET /api/conversations').length

    network.calls.length = 0
    await ada.threads.markRead(latest_root)
    expect(isWhole(await waitForView(store.conversations, ({ conversations }) => conversations[0]?.unread === 0))).toBe(
      true,
    )
    // Once for each event about it.
    expect(pages()).toBeLessThan(3)

    network.calls.length = 0
    await ada.threads.markRead(root_id)
    const unreadOf = ({ conversations }: ConversationsView) => conversations.find(({ id }) => id === engines)?.unread
    const view = await waitForView(store.conversations, (each) => unreadOf(each) === 0)
    expect(isWhole(view)).toBe(true)
    const { conversations } = await ada.conversations.list({ limit: 200 })
    expect(view.conversations).toEqual(conversations)

    network.calls.length = 0
    await store.conversations.reload()
    expect(pages()).toBe(3)
    stop()
  })

  it('are in the order of their activity', async () => {
    const { store, ada, grace, engines, root_id, stop } = await startLists()
    await ada.conversations.create({ title: 'Ships' })
    await waitForView(store.conversations, (view) => titlesOf(view).join() === 'Ships,Engines')
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await waitForView(store.conversations, (view) => titlesOf(view).join() === 'Engines,Ships')
    await store.setSettings(engines, { level: 'none', muted_until: 'forever' })
    const { conversations } = await waitForView(store.conversations, (view) => view.conversations[0]!.level === 'none')
    expect(conversations[0]).toMatchObject({ title: 'Engines', muted_until: 'forever' })
    stop()
  })

  it('have their unread mentions, and their policy', async () => {
    const { store, grace, ada, engines, root_id, stop } = await startLists()
    const first = () => store.conversations.getSnapshot().conversations[0]!
    await grace.messages.reply(root_id, { content: '@ada' })
    const other = await grace.messages.postRoot(engines, { content: '@ada?' })
    await waitForView(store.conversations, () => first().mentions === 2)
    await grace.messages.edit(other.message_id, { content: 'never mind' })
    await waitForView(store.conversations, () => first().mentions === 1)
    await ada.notifications.markRead({ ids: [(await ada.notifications.list()).notifications[0]!.id] })
    await waitForView(store.conversations, () => first().mentions === 0)
    await grace.conversations.rename(engines, { policy: { receipts: 'on' } })
    await waitForView(store.conversations, () => first().policy.receipts === 'on')
    stop()
  })

  it('follow what notifies the user without a request: replies of a followed thread, mentions and answers to the user', async () => {
    const { store, ada, grace, network, engines, root_id, stop } = await startLists()
    const { message } = await ada.messages.reply(root_id, { content: 'I look after it.' })
    const first = () => store.conversations.getSnapshot().conversations[0]!
    await waitForView(store.conversations, () => first().last_message?.id === message.id)
    for (const list of [store.conversations, store.archived]) await list.reload()
    network.calls.length = 0
    await grace.messages.reply(root_id, { content: 'It stands still.' })
    await waitForView(store.conversations, () => first().mentions === 1)
    await grace.messages.reply(message.id, { content: 'Well?' })
    await waitForView(store.conversations, () => first().mentions === 2)
    await grace.messages.postRoot(engines, { content: '@ada, look!' })
    await waitForView(store.conversations, () => first().mentions === 3 && first().unread === 4)
    expect(network.calls).toEqual([])
    expect(first()).toEqual((await ada.conversations.list({})).conversations[0])
    stop()
  })

  it('have one with a user, which is opened once', async () => {
    const { store, grace, actor, stop } = await startLists()
    const { conversation_id, created } = await store.openDirect({ username: 'grace' })
    expect(created).toBe(true)
    const { conversations } = await waitForView(store.conversations, ({ conversations }) => conversations.length === 2)
    expect(conversations[0]).toMatchObject({ id: conversation_id, direct: true, with: { username: 'grace' } })
    expect(await store.openDirect({ user_id: actor('grace').user_id })).toMatchObject({
      conversation_id,
      created: false,
    })
    expect(await grace.conversations.direct({ username: 'ada' })).toMatchObject({ conversation_id })
    await expect(store.openDirect({ username: 'nobody' })).rejects.toMatchObject({ code: 'not_found' })
    stop()
  })
})

describe('the settings for a conversation', () => {
  it('are read once, and follow what other devices change', async () => {
    const { store, ada, engines, network } = await startLists()
    const settings = store.settings(engines)
    expect(store.settings(engines)).toBe(settings)
    expect(settings.getSnapshot()).toEqual({ status: 'loading' })
    const stop = settings.subscribe(() => {})
    expect(await waitForView(settings, isReady)).toEqual({
      status: 'ready',
      settings: { level: 'mentions', archived: false, receipts: true },
    })
    network.calls.length = 0
    await ada.conversations.setSettings(engines, { level: 'none' })
    await waitForView(settings, (view) => view.settings?.level === 'none')
    expect(network.calls.filter((call) => call.endsWith('/settings'))).toEqual([
      `PATCH /api/conversations/${engines}/settings`,
    ])
    await expect(store.setSettings(engines, { muted_until: 'tomorrow' })).rejects.toMatchObject({
      code: 'validation_failed',
    })
    stop()
  })

  it('end with the participation', async () => {
    const { store, ada, actor, engines, stop } = await startLists()
    const settings = store.settings(engines)
    const end = settings.subscribe(() => {})
    await waitForView(settings, isReady)
    await ada.participants.remove(engines, actor('ada').user_id)
    const view = await waitForView(settings, ({ status }) => status === 'failed')
    expect(view).toMatchObject({ error: { code: 'not_found' } })
    expect(view).not.toHaveProperty('settings')
    end()
    stop()
  })

  it('of two have the names and the photo of the other person as they are, without a request', async () => {
    const { store, ada, grace, actor, network } = await startThread()
    await ada.conversations.direct({ user_id: actor('grace').user_id })
    const stop = store.conversations.subscribe(() => {})
    const partner = ({ conversations }: ConversationsView) => conversations.find(({ direct }) => direct)?.with
    await waitForView(store.conversations, (view) => partner(view) !== undefined)
    await waitForView(store.connection, ({ status }) => status === 'online')
    network.calls.length = 0
    await grace.auth.changeProfile({ display_name: 'Grace Hopper' })
    const view = await waitForView(store.conversations, (view) => partner(view)?.display_name !== undefined)
    expect(partner(view)).toEqual({ user_id: actor('grace').user_id, username: 'grace', display_name: 'Grace Hopper' })
    expect(network.calls).toEqual([])
    stop()
  })
})

describe('the conversations of a store, when all is marked as read,', () => {
  it('have nothing unread after all was read on another device, by one event, and later messages only', async () => {
    const { store, ada, grace, engines, root_id, stop } = await startLists()
    const room = store.conversation(engines)
    const threads = store.threads(engines)
    const inbox = inboxOf(store).notifications()
    const followed = followedThreadsOf(store)
    const stops = [room, threads, inbox, followed, store.unread, store.unreadNotifications].map((part) =>
      part.subscribe(() => {}),
    )
    const { conversation_id } = await grace.conversations.create({ title: 'Pumps', layout: 'stream' })
    await grace.participants.add(conversation_id, { user_id: (await ada.auth.me()).user.id })
    await grace.messages.reply(root_id, { content: 'Hello @ada' })
    await ada.threads.follow(root_id)
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await waitForView(store.conversations, has('Pumps'))
    await waitForView(room, ({ unread }) => unread > 0)
    await waitForView(store.unread, (unread) => unread > 0)
    await waitForView(store.unreadNotifications, (unread) => unread > 0)
    await waitForView(followed, ({ unread }) => unread === 1)
    await waitForView(inbox, ({ notifications }) => notifications.some(({ read_at }) => !read_at))
    await ada.conversations.markAllRead()
    await waitForView(store.unread, (unread) => unread === 0)
    await waitForView(store.unreadNotifications, (unread) => unread === 0)
    await waitForView(room, ({ unread, messages }) => unread === 0 && messages.every((each) => !each.unread))
    await waitForView(threads, ({ threads }) => threads.every((each) => !each.unread && !each.unread_replies))
    await waitForView(followed, ({ unread }) => unread === 0)
    await waitForView(inbox, ({ notifications }) => notifications.every(({ read_at }) => read_at))
    await grace.messages.postRoot(engines, { content: 'Later' })
    await waitForView(store.unread, (unread) => unread === 1)
    await waitForView(room, ({ unread }) => unread === 1)
    await store.markAllRead()
    await waitForView(store.unread, (unread) => unread === 0)
    await waitForView(room, ({ unread }) => unread === 0)
    for (const end of stops) end()
    stop()
  })

  it('need no request after all was read', async () => {
    const { store, grace, network, engines, stop } = await startLists()
    await grace.messages.postRoot(engines, { content: 'Anyone?' })
    await waitForView(store.unread, (unread) => unread === 2)
    network.calls.length = 0
    await store.markAllRead()
    await waitForView(store.unread, (unread) => unread === 0)
    expect(network.calls).toEqual(['POST /api/conversations/read'])
    stop()
  })
})

describe('the sections of the conversations of a store', () => {
  it('have a conversation once, which moves when it becomes a favourite, is archived or gets another layout', async () => {
    const { store, ada, grace, actor, engines, stop } = await startLists()
    const sections = (['favourites', 'rooms', 'direct', 'assistant'] as const).map((section) => {
      const list = store.conversations({ section })
      expect(store.conversations({ section })).toBe(list)
      const end = list.subscribe(() => {})
      return { section, list, end }
    })
    const shown = () =>
      Object.fromEntries(
        sections.map(({ section, list }) => [section, list.getSnapshot().conversations.map((each) => each.id)]),
      )
    /** Waits until every section has these, which are what the service returns. */
    const waitFor = async (expected: Record<string, string[]>) => {
      for (const { section, list } of sections) {
        await waitForView(
          list,
          ({ status, conversations }) =>
            status === 'ready' && conversations.map(({ id }) => id).join() === (expected[section] ?? []).join(),
        )
        const { conversations } = await ada.conversations.list({ section })
        expect(conversations.map(({ id }) => id)).toEqual(expected[section] ?? [])
      }
    }
    await waitFor({ rooms: [engines] })
    const { conversation_id: direct } = await store.openDirect({ user_id: actor('grace').user_id })
    await waitFor({ rooms: [engines], direct: [direct] })
    await store.setSettings(direct, { favourite: true })
    await waitFor({ rooms: [engines], favourites: [direct] })
    await ada.conversations.setSettings(engines, { favourite: true })
    await waitFor({ favourites: [direct, engines] })
    await ada.conversations.setSettings(direct, { favourite: false })
    await waitFor({ favourites: [engines], direct: [direct] })
    await ada.conversations.setSettings(engines, { archived: true })
    await waitFor({ direct: [direct] })
    await ada.conversations.setSettings(engines, { archived: false, favourite: false })
    await waitFor({ rooms: [engines], direct: [direct] })
    await grace.conversations.rename(engines, { layout: 'assistant' })
    await waitFor({ assistant: [engines], direct: [direct] })
    await ada.participants.remove(engines, actor('ada').user_id)
    await waitFor({ direct: [direct] })
    expect(titlesOf(store.conversations.getSnapshot())).toHaveLength(1)
    expect(Object.values(shown()).flat()).toEqual([direct])
    for (const { end } of sections) end()
    stop()
  })

  it('follow messages without a request, also beside sections that were not read to their end', async () => {
    const { store, ada, grace, network, engines, stop } = await startLists()
    for (let n = 0; n < 51; n++) await ada.conversations.create({ title: `Number ${n}`, layout: 'assistant' })
    const rooms = store.conversations({ section: 'rooms' })
    const assistants = store.conversations({ section: 'assistant' })
    const stops = [rooms, assistants].map((list) => list.subscribe(() => {}))
    for (const list of [rooms, assistants]) await waitForView(list, isReady)
    const first = ({ conversations }: ConversationsView) => conversations[0]
    // Its event comes after those of the conversations.
    await grace.messages.postRoot(engines, { content: 'Hello' })
    await waitForView(rooms, (view) => first(view)?.last_message?.excerpt === 'Hello')
    for (const list of [store.conversations, store.archived, rooms, assistants]) await list.reload()
    expect(assistants.getSnapshot().has_more).toBe(true)
    network.calls.length = 0
    await grace.messages.postRoot(engines, { content: 'It runs.' })
    await waitForView(rooms, (view) => first(view)?.last_message?.excerpt === 'It runs.')
    expect(network.calls).toEqual([])
    await ada.conversations.markAllRead()
    await waitForView(rooms, (view) => first(view)?.unread === 0)
    for (const end of stops) end()
    stop()
  })

  it('are read again after the stream has lost its place', async () => {
    const { store, ada, network, engines, stop } = await startLists()
    const rooms = store.conversations({ section: 'rooms' })
    const favourites = store.conversations({ section: 'favourites' })
    const stops = [rooms, favourites].map((list) => list.subscribe(() => {}))
    for (const list of [rooms, favourites]) await waitForView(list, isReady)
    network.isOffline = true
    network.cut()
    await waitForView(store.connection, ({ status }) => status === 'offline')
    network.isOffline = false
    network.forget()
    await ada.conversations.setSettings(engines, { favourite: true })
    await waitForView(favourites, has('Engines'))
    await waitForView(rooms, ({ conversations }) => conversations.length === 0)
    for (const end of stops) end()
    stop()
  })

  it('refuse options with an unknown name', async () => {
    const { store, stop } = await startLists()
    expect(() => store.conversations({ sections: 'rooms' } as never)).toThrow('has no "sections"')
    stop()
  })
})
