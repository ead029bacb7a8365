import { describe, expect, it } from 'vitest'
import { createChatClient } from '../../../lib/client/index.ts'
import { createChatStore } from '../../../lib/client/store/index.ts'
import { inboxOf } from '../../../lib/client/store/parts.ts'
import { describeService } from '../../support/describe-service.ts'
import { PASSWORD } from '../../support/service.ts'
import { createNetwork, waitForView } from './world.ts'

describe.each(['fetch', 'poll'] as const)('by %s,', (transport) => {
  describeService('two people who write to each other', (service) => {
    it('see the badge rise with a mention, also after a lost connection, and fall when the thread is read', async () => {
      const { email, ...admin } = await service.signIn('ada')
      const grace = await service.signIn('grace')
      const engines = (await admin.conversations.create({ title: 'Engines' })).conversation_id
      await admin.participants.add(engines, { user_id: grace.id })
      const { root_id } = await admin.messages.postRoot(engines, { content: 'Does it run?' })

      // The page of Ada.
      const network = createNetwork(fetch)
      const client = createChatClient({ base_url: service.base_url, fetch: network.fetch, retry_ms: 10, transport })
      await client.auth.login({ email, password: PASSWORD })
      const store = createChatStore(client, { refresh_ms: 5 })
      const unread = inboxOf(store).notifications({ unread: true })
      const badge = store.unreadNotifications
      const stops = [store.conversations, store.archived, unread, badge].map((part) => part.subscribe(() => {}))
      const find = (id: string) => store.conversations.getSnapshot().conversations.find((each) => each.id === id)
      const kinds = () => unread.getSnapshot().notifications.map(({ kind, excerpt }) => [kind, excerpt])

      // She writes to Grace, who answers.
      const { conversation_id } = await store.openDirect({ username: 'grace' })
      await waitForView(store.conversations, () => find(conversation_id)?.with?.username === 'grace')
      const hello = await store.post({ conversation_id, content: 'Hello, Grace.' })
      const settings = store.settings(conversation_id)
      stops.push(settings.subscribe(() => {}))
      expect((await waitForView(settings, ({ status }) => status === 'ready')).settings).toMatchObject({ level: 'all' })
      await grace.messages.reply(hello!.message_id, { content: 'Hello, Ada.' })
      await waitForView(badge, (count) => count === 1)
      await waitForView(unread, ({ notifications }) => notifications.length === 1)
      expect(kinds()).toEqual([['direct', 'Hello, Ada.']])

      // Grace mentions her while the connection is lost.
      network.isOffline = true
      network.cut()
      await waitForView(store.connection, ({ status }) => status === 'offline')
      await grace.messages.reply(root_id, { content: '@ada It runs.' })
      await grace.messages.postRoot(conversation_id, { content: 'Have you seen it?' })
      expect(badge.getSnapshot()).toBe(1)
      network.isOffline = false
      await waitForView(badge, (count) => count === 2)
      await waitForView(unread, ({ notifications }) => notifications.length === 2)
      expect(kinds()).toEqual([
        ['direct', 'Have you seen it?'],
        ['mention', '@ada It runs.'],
      ])
      await waitForView(store.conversations, () => find(engines)?.mentions === 1 && find(conversation_id)?.unread === 2)

      // She reads the thread.
      await store.markRead(root_id)
      await waitForView(badge, (count) => count === 1)
      await waitForView(store.conversations, () => find(engines)?.mentions === 0)
      await store.markRead(hello!.message.root_id)
      await waitForView(badge, (count) => count === 1)
      await waitForView(unread, () => kinds().length === 1)

      // She archives the conversation; the next message of Grace brings it back.
      await store.setSettings(conversation_id, { archived: true })
      await waitForView(store.archived, ({ conversations }) => conversations[0]?.id === conversation_id)
      await waitForView(store.conversations, () => find(conversation_id) === undefined)
      await waitForView(settings, (view) => view.settings?.archived === true)
      await grace.messages.postRoot(conversation_id, { content: 'Still there?' })
      await waitForView(store.conversations, ({ conversations }) => conversations[0]?.id === conversation_id)
      await waitForView(store.archived, ({ conversations }) => conversations.length === 0)
      await waitForView(settings, (view) => view.settings?.archived === false)
      await waitForView(unread, () => kinds()[0]?.[1] === 'Still there?')
      expect(badge.getSnapshot()).toBe(1)
      for (const stop of stops) stop()
      store.close()
    })
  })
})

describeService('two people in a thread', (service) => {
  it('see the title of a thread change without a request', async () => {
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Does it run?', title: 'Steam' })
    const network = createNetwork(fetch)
    const client = createChatClient({ base_url: service.base_url, fetch: network.fetch, retry_ms: 10 })
    await client.auth.login({ email: ada.email, password: PASSWORD })
    const store = createChatStore(client, { refresh_ms: 5 })
    const threads = store.threads(conversation_id)
    const stop = threads.subscribe(() => {})
    await waitForView(threads, (view) => view.threads[0]?.title === 'Steam')
    const calls = network.calls.length
    await grace.threads.setTitle(root_id, { title: 'Steam, and more' })
    await waitForView(threads, (view) => view.threads[0]?.title === 'Steam, and more')
    await grace.threads.setTitle(root_id, { title: '' })
    await waitForView(threads, ({ threads: [first] }) => first !== undefined && first.title === undefined)
    const posted = await grace.messages.postRoot(conversation_id, { content: 'And this?', title: 'New' })
    await waitForView(threads, (view) => view.threads[0]?.title === 'New')
    expect(threads.getSnapshot().threads.map((each) => each.root_id)).toEqual([posted.root_id, root_id])
    expect(network.calls.length).toBe(calls)
    stop()
    store.close()
  })
})
