import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ChatProvider, useConversation, useConversations, useMe } from '../../../lib/client/react/index.ts'
import { type ChatStoreOptions, createChatStore } from '../../../lib/client/store/index.ts'
import { isReady, startThread, textsOf, waitForView } from './world.ts'

/** Ada's client in a conversation with two threads, and a store that begins with a snapshot of it as JSON. */
async function openPage(name = 'ada') {
  const world = await startThread()
  const { chat, actor, ada, grace, root_id, conversation_id } = world
  await grace.threads.setTitle(root_id, { title: 'Trials' })
  await ada.messages.reply(root_id, { content: 'It runs.' })
  const snapshot = await chat.snapshots.create(actor(name), { conversation_id, root_id })
  const initial = JSON.parse(JSON.stringify(snapshot)) as NonNullable<ChatStoreOptions['initial']>
  const open = (options: ChatStoreOptions = { initial, refresh_ms: 5 }) => {
    const store = createChatStore(ada, options)
    onTestFinished(() => store.close())
    return store
  }
  return { ...world, initial, open }
}

describe('a store with a snapshot', () => {
  it('is ready before anything is read, on a server too', async () => {
    const { open, conversation_id, root_id, network, actor } = await openPage()
    const store = open()
    network.calls.length = 0
    const parts = {
      conversations: store.conversations,
      threads: store.threads(conversation_id),
      thread: store.thread(root_id),
      messages: store.conversation(conversation_id),
      replies: store.replies(root_id),
      me: store.me,
    }
    for (const part of Object.values(parts)) {
      expect(part.getSnapshot().status).toBe('ready')
      expect(part.getServerSnapshot()).toBe(part.getSnapshot())
    }
    expect(parts.conversations.getSnapshot().conversations).toMatchObject([{ id: conversation_id }])
    expect(parts.threads.getSnapshot().threads).toMatchObject([{ root_id, title: 'Trials' }])
    expect(parts.thread.getSnapshot()).toMatchObject({ title: 'Trials', has_more: false })
    expect(textsOf(parts.thread.getSnapshot().messages)).toEqual(['Does it run?', 'It runs.'])
    expect(textsOf(parts.messages.getSnapshot().messages)).toEqual(['Does it run?'])
    expect(textsOf(parts.replies.getSnapshot().messages)).toEqual(['It runs.'])
    expect(parts.me.getSnapshot().user?.id).toBe(actor('ada').user_id)
    expect([store.unread.getServerSnapshot(), network.calls]).toEqual([store.unread.getSnapshot(), []])
  })

  it('follows the stream, and has what changed after the snapshot', async () => {
    const { open, conversation_id, root_id, grace } = await openPage()
    await grace.messages.postRoot(conversation_id, { content: 'Before the page' })
    const store = open()
    const part = store.conversation(conversation_id)
    const statuses = new Set<string>()
    onTestFinished(part.subscribe(() => statuses.add(part.getSnapshot().status)))
    await waitForView(part, ({ messages }) => messages.length === 2)
    await grace.messages.postRoot(conversation_id, { content: 'Beside it' })
    await grace.threads.setTitle(root_id, { title: '' })
    await waitForView(part, ({ messages }) => messages.length === 3)
    const thread = await waitForView(store.thread(root_id), (view) => isReady(view) && !view.title)
    expect(textsOf(part.getSnapshot().messages)).toEqual(['Does it run?', 'Before the page', 'Beside it'])
    expect([[...statuses], thread.messages.length]).toEqual([['ready'], 2])
  })

  it("drops another user's as soon as it knows its own, watched or not", async () => {
    const { open, conversation_id, root_id, actor } = await openPage('grace')
    const store = open()
    const part = store.conversation(conversation_id)
    const thread = store.thread(root_id)
    expect([part.getSnapshot().status, thread.getSnapshot().status]).toEqual(['ready', 'ready'])
    const statuses: string[] = []
    onTestFinished(part.subscribe(() => statuses.push(part.getSnapshot().status)))
    await waitForView(store.me, ({ user }) => user?.id === actor('ada').user_id)
    expect(statuses[0]).toBe('loading')
    expect(thread.getSnapshot()).toMatchObject({ status: 'loading', messages: [] })
    // A part that was not made yet does not get it either.
    expect(store.threads(conversation_id).getSnapshot().status).toBe('loading')
    await waitForView(part, isReady)
  })

  it('forgets it with the user, and shows each part of it once', async () => {
    const { open, conversation_id } = await openPage()
    const store = open()
    store.restart()
    expect(store.conversation(conversation_id).getSnapshot().status).toBe('loading')
    expect(store.me.getSnapshot()).toEqual({ status: 'loading' })
  })

  it('takes one that has not all parts', async () => {
    const { open, initial, conversation_id } = await openPage()
    const { conversations: _, messages: __, ...rest } = initial
    const store = open({ initial: rest })
    expect(store.conversations.getSnapshot().status).toBe('loading')
    expect(store.threads(conversation_id).getSnapshot().status).toBe('ready')
    await waitForView(store.conversations, isReady)
  })

  it('is what the hooks render on a server', async () => {
    const { initial, ada, conversation_id } = await openPage()
    const Room = () => [
      useMe().user?.username,
      useConversations().conversations[0]?.title,
      ...textsOf(useConversation(conversation_id).messages),
    ]
    const html = renderToString(createElement(ChatProvider, { client: ada, initial }, createElement(Room)))
    expect(html.replaceAll('<!-- -->', ' ')).toBe('ada Engines Does it run?')
  })
})

describe('the user of the page', () => {
  it('is known once the stream begins, and follows changes in other pages', async () => {
    const { store, ada } = await startThread()
    expect(store.me.getSnapshot()).toEqual({ status: 'loading' })
    const view = await waitForView(store.me, isReady)
    expect(view.user?.username).toBe('ada')
    onTestFinished(store.me.subscribe(() => {}))
    await waitForView(store.connection, ({ status }) => status === 'online')
    await ada.auth.changeProfile({ display_name: 'Ada Lovelace' })
    expect((await waitForView(store.me, ({ user }) => !!user?.display_name)).user?.display_name).toBe('Ada Lovelace')
  })
})
