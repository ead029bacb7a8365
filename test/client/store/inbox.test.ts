import { describe, expect, it } from 'vitest'
import type { Notification } from '../../../lib/client/index.ts'
import { inboxOf, type NotificationsView } from '../../../lib/client/store/parts.ts'
import { isReady, startThread, waitForView } from './world.ts'

/** Ada's inbox, and Grace, who mentions her. */
async function startInbox() {
  const world = await startThread()
  const inbox = inboxOf(world.store)
  const mention = async (content = '@ada') => (await world.grace.messages.reply(world.root_id, { content })).message_id
  return { ...world, inbox, mention }
}

const idsOf = ({ notifications }: NotificationsView) => notifications.map(({ id }) => id)
const isUnread = ({ read_at }: Notification) => read_at === undefined
const unreadIn = ({ notifications }: NotificationsView) => notifications.filter(isUnread).length

describe('the inbox of a store', () => {
  it('counts unread notifications from its stream, without a request', async () => {
    const { store, network, mention } = await startInbox()
    await mention()
    const stop = store.unreadNotifications.subscribe(() => {})
    // Grace has added Ada to the conversation, too.
    await waitForView(store.unreadNotifications, (unread) => unread === 2)
    await mention()
    await waitForView(store.unreadNotifications, (unread) => unread === 3)
    expect(network.calls).toEqual(['GET /api/auth/me', 'GET /api/stream'])
    stop()
  })

  it('knows the number when the stream is open already', async () => {
    const { store, mention } = await startInbox()
    await mention()
    const stop = store.conversations.subscribe(() => {})
    await waitForView(store.conversations, isReady)
    await waitForView(store.unreadNotifications, (unread) => unread === 2)
    stop()
  })

  it('is the same at each call, and so are its lists', async () => {
    const { store, inbox, conversation_id } = await startInbox()
    expect(inboxOf(store)).toBe(inbox)
    expect(inbox.notifications({})).toBe(inbox.notifications())
    expect(inbox.notifications({ unread: false })).toBe(inbox.notifications())
    expect(inbox.notifications({ kind: 'reply', unread: true })).toBe(
      inbox.notifications({ unread: true, kind: 'reply' }),
    )
    expect(inbox.notifications({ conversation: conversation_id })).not.toBe(inbox.notifications())
    expect(inbox.notifications().getSnapshot()).toEqual({ status: 'loading', notifications: [], has_more: false })
  })

  it('shows new notifications first, in the lists that they belong to', async () => {
    const { inbox, grace, mention } = await startInbox()
    const all = inbox.notifications()
    const mentions = inbox.notifications({ kind: 'mention' })
    const stops = [all, mentions].map((list) => list.subscribe(() => {}))
    await waitForView(all, isReady)
    await waitForView(mentions, isReady)
    const message_id = await mention('@ada look')
    expect(
      (await waitForView(mentions, ({ notifications }) => notifications.length === 1)).notifications,
    ).toMatchObject([{ kind: 'mention', message_id, excerpt: '@ada look' }])
    const { conversation_id } = await grace.conversations.direct({ username: 'ada' })
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'one' })
    await waitForView(all, ({ notifications: [first] }) => first?.excerpt === 'one')
    await mention()
    await grace.messages.reply(root_id, { content: 'two' })
    const { notifications } = await waitForView(all, ({ notifications: [first] }) => first?.excerpt === 'two')
    expect(notifications.map(({ kind, count }) => [kind, count])).toEqual([
      ['direct', 2],
      ['mention', undefined],
      ['mention', undefined],
      ['added', undefined],
    ])
    for (const stop of stops) stop()
  })

  it('follows what becomes of the messages', async () => {
    const { store, inbox, grace, mention } = await startInbox()
    const all = inbox.notifications()
    const stop = all.subscribe(() => {})
    const message_id = await mention()
    await waitForView(all, (view) => unreadIn(view) === 2)
    await grace.messages.edit(message_id, { content: '@ada again' })
    await waitForView(all, ({ notifications }) => notifications[0]?.excerpt === '@ada again')
    await grace.messages.remove(message_id)
    await waitForView(all, ({ notifications }) => notifications.length === 1)
    await waitForView(store.unreadNotifications, (unread) => unread === 1)
    await grace.messages.restore(message_id)
    await waitForView(all, ({ notifications }) => notifications.length === 2)
    await waitForView(store.unreadNotifications, (unread) => unread === 2)
    stop()
  })

  it('reads the next page, and puts new notifications before what is read', async () => {
    const { inbox, chat, actor, root_id } = await startInbox()
    for (let index = 0; index < 52; index++)
      await chat.messages.reply(actor('grace'), root_id, { content: `@ada ${index}` })
    const all = inbox.notifications()
    const stop = all.subscribe(() => {})
    expect(await waitForView(all, isReady)).toMatchObject({ has_more: true, notifications: { length: 50 } })
    await chat.messages.reply(actor('grace'), root_id, { content: '@ada 52' })
    await waitForView(all, ({ notifications }) => notifications.length === 51)
    await all.loadMore()
    expect(all.getSnapshot()).toMatchObject({ has_more: false, notifications: { length: 54 } })
    stop()
  })
})

describe('marking notifications as read', () => {
  it('shows it before the service has it, then with its time', async () => {
    const { store, inbox, ada, network, mention } = await startInbox()
    const [all, unread] = [inbox.notifications(), inbox.notifications({ unread: true })]
    const stops = [all, unread].map((list) => list.subscribe(() => {}))
    await mention()
    const [id] = idsOf(await waitForView(all, (view) => unreadIn(view) === 2)) as [string]
    await waitForView(unread, (view) => unreadIn(view) === 2)
    await waitForView(store.unreadNotifications, (number) => number === 2)
    await Promise.all([all.reload(), unread.reload()])
    network.before = (call) => {
      if (!call.startsWith('POST')) return
      expect(unreadIn(all.getSnapshot())).toBe(1)
      expect(idsOf(unread.getSnapshot())).not.toContain(id)
      expect(store.unreadNotifications.getSnapshot()).toBe(1)
    }
    await inbox.markRead({ ids: [id] })
    expect(unreadIn(all.getSnapshot())).toBe(1)
    const { notifications } = await ada.notifications.list()
    await waitForView(all, (view) => view.notifications[0]!.read_at === notifications[0]!.read_at)
    expect(unread.getSnapshot().notifications).toEqual(notifications.filter(isUnread))
    expect(store.unreadNotifications.getSnapshot()).toBe(1)
    for (const stop of stops) stop()
  })

  it('reads all older ones, also those that the page does not show', async () => {
    const { store, inbox, chat, actor, root_id, network } = await startInbox()
    for (let index = 0; index < 60; index++)
      await chat.messages.reply(actor('grace'), root_id, { content: `@ada ${index}` })
    const all = inbox.notifications()
    const stop = all.subscribe(() => {})
    const ids = idsOf(await waitForView(all, isReady))
    await waitForView(store.unreadNotifications, (number) => number === 61)
    await all.reload()
    const seen: number[] = []
    network.before = (call) => call.startsWith('POST') && seen.push(store.unreadNotifications.getSnapshot())
    await inbox.markRead({ up_to: ids[1]! })
    expect(seen).toEqual([1])
    await waitForView(store.unreadNotifications, (number) => number === 1)
    expect(unreadIn(all.getSnapshot())).toBe(1)
    await all.loadMore()
    expect(unreadIn(all.getSnapshot())).toBe(1)
    stop()
  })

  it('is undone after a failure, which the caller gets', async () => {
    const { store, inbox, network, mention } = await startInbox()
    const unread = inbox.notifications({ unread: true })
    const stop = unread.subscribe(() => {})
    await mention()
    const before = await waitForView(unread, (view) => unreadIn(view) === 2)
    await waitForView(store.unreadNotifications, (number) => number === 2)
    await unread.reload()
    network.before = (call) => {
      if (call.startsWith('POST')) throw new TypeError('fetch failed')
    }
    const marked = inbox.markRead({ up_to: before.notifications[0]!.id })
    expect(unread.getSnapshot().notifications).toEqual([])
    expect(store.unreadNotifications.getSnapshot()).toBe(0)
    await expect(marked).rejects.toThrow('fetch failed')
    expect(unread.getSnapshot().notifications).toEqual(before.notifications)
    expect(store.unreadNotifications.getSnapshot()).toBe(2)
    stop()
  })

  it('counts nothing twice that is read elsewhere and is shown as unread until the list is read again', async () => {
    const { store, inbox, ada, network, mention } = await startInbox()
    const all = inbox.notifications()
    const stop = all.subscribe(() => {})
    await mention()
    const [id] = idsOf(await waitForView(all, (view) => unreadIn(view) === 2)) as [string]
    await waitForView(store.unreadNotifications, (number) => number === 2)
    await all.reload()
    let goOn = () => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    network.before = (call) => (call.startsWith('GET') ? held : undefined)
    await ada.notifications.markRead({ ids: [id] })
    await waitForView(store.unreadNotifications, (number) => number === 1)
    expect(unreadIn(all.getSnapshot())).toBe(2)
    await inbox.markRead({ ids: [id] })
    goOn()
    await waitForView(all, (view) => unreadIn(view) === 1)
    expect(store.unreadNotifications.getSnapshot()).toBe(1)
    stop()
  })

  it('does not undo what the service has counted meanwhile', async () => {
    const { store, inbox, network, mention } = await startInbox()
    const unread = inbox.notifications({ unread: true })
    const stop = unread.subscribe(() => {})
    const [id] = idsOf(await waitForView(unread, (view) => unreadIn(view) === 1)) as [string]
    await waitForView(store.unreadNotifications, (number) => number === 1)
    await unread.reload()
    network.before = async (call) => {
      if (!call.startsWith('POST')) return
      await mention()
      await waitForView(store.unreadNotifications, (number) => number === 2)
      throw Object.assign(new Error('refused'), { code: 'rate_limited' })
    }
    await expect(inbox.markRead({ ids: [id] })).rejects.toThrow('refused')
    expect(store.unreadNotifications.getSnapshot()).toBe(2)
    expect(unreadIn(unread.getSnapshot())).toBe(2)
    stop()
  })

  it('happens with the thread, and on another device', async () => {
    const { store, inbox, ada, mention, root_id } = await startInbox()
    const unread = inbox.notifications({ unread: true })
    const stop = unread.subscribe(() => {})
    await mention()
    await waitForView(unread, (view) => unreadIn(view) === 2)
    // With it what tells of having been added.
    await store.markRead(root_id)
    await waitForView(unread, (view) => unreadIn(view) === 0)
    await mention()
    const { notifications } = await waitForView(unread, (view) => unreadIn(view) === 1)
    expect(notifications).toMatchObject([{ kind: 'mention' }])
    await ada.notifications.markRead({ up_to: notifications[0]!.id })
    await waitForView(unread, (view) => unreadIn(view) === 0)
    await waitForView(store.unreadNotifications, (number) => number === 0)
    stop()
  })

  it('is caught up after a lost connection', async () => {
    const { store, inbox, network, grace, ada, root_id } = await startInbox()
    const all = inbox.notifications()
    const stop = all.subscribe(() => {})
    await waitForView(all, (view) => unreadIn(view) === 1)
    await waitForView(store.connection, ({ status }) => status === 'online')
    network.isOffline = true
    network.cut()
    await waitForView(store.connection, ({ status }) => status === 'offline')
    await grace.messages.reply(root_id, { content: '@ada' })
    network.isOffline = false
    await waitForView(all, (view) => unreadIn(view) === 2)
    await waitForView(store.unreadNotifications, (number) => number === 2)
    expect(all.getSnapshot().notifications).toEqual((await ada.notifications.list()).notifications)
    stop()
  })

  it('forgets the inbox of the former user', async () => {
    const { store, inbox, signIn, mention } = await startInbox()
    const all = inbox.notifications()
    const stop = all.subscribe(() => {})
    await mention()
    await waitForView(all, (view) => unreadIn(view) === 2)
    signIn('grace')
    store.restart()
    expect(store.unreadNotifications.getSnapshot()).toBe(0)
    expect(all.getSnapshot()).toMatchObject({ status: 'loading', notifications: [] })
    expect((await waitForView(all, isReady)).notifications).toEqual([])
    stop()
  })
})
