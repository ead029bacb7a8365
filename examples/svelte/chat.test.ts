import { createChatStore } from 'chat-server/client/store'
import { createTestChat } from 'chat-server/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fromReadable } from './chat.ts'

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
