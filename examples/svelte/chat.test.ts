import { createChatStore } from 'chat-server/client/store'
import { createTestChat } from 'chat-server/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fromReadable } from './chat.ts'

it('reads a room from its end, and a post at once', async () => {
  const { client, close } = await createTestChat({ users: ['ada'] })
  const ada = client('ada')
  const store = createChatStore(ada)
  const { conversation_id } = await ada.conversations.create()
  for (let n = 1; n <= 60; n++) await ada.messages.postRoot(conversation_id, { content: `${n}` })
  const room = store.conversation(conversation_id)
  const view = fromReadable(room)
  const stop = room.subscribe(() => {})
  onTestFinished(async () => {
    stop()
    store.close()
    await close()
  })
  await vi.waitFor(() => expect(view.current).toMatchObject({ status: 'ready', has_older: true }), 10_000)
  expect(view.current.messages.map(({ content }) => content)).toEqual(Array.from({ length: 50 }, (_, n) => `${n + 11}`))
  await room.loadOlder()
  expect(view.current.messages).toHaveLength(60)
  const posted = store.post({ conversation_id, content: 'It runs.' })
  expect(view.current.messages.at(-1)).toMatchObject({ content: 'It runs.', pending: { status: 'sending' } })
  await posted
  expect(view.current.messages).toHaveLength(61)
})

it('reads what the store has', async () => {
  const { client, close } = await createTestChat({ users: ['ada', 'grace'] })
  const ada = client('ada')
  const store = createChatStore(ada)
  await ada.conversations.create({ title: 'Engines' })
  const conversations = fromReadable(store.conversations)
  const unread = fromReadable(store.unreadNotifications)
  const stops = [store.conversations, store.unreadNotifications].map((part) => part.subscribe(() => {}))
  onTestFinished(async () => {
    for (const stop of stops) stop()
    store.close()
    await close()
  })
  await vi.waitFor(() => expect(conversations.current.conversations).toMatchObject([{ title: 'Engines' }]), 10_000)
  expect(unread.current).toBe(0)
  const grace = client('grace')
  const { conversation_id } = await grace.conversations.create({ title: 'Ships' })
  await grace.participants.add(conversation_id, { username: 'ada' })
  await vi.waitFor(() => expect(unread.current).toBe(1), 10_000)
})
