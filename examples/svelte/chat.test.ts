import { createChatStore } from 'chat-server/client/store'
import { createTestChat } from 'chat-server/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fromReadable } from './chat.ts'

it('reads what the store has', async () => {
  const { client, close } = await createTestChat({ users: ['ada'] })
  const ada = client('ada')
  const store = createChatStore(ada)
  await ada.conversations.create({ title: 'Engines' })
  const conversations = fromReadable(store.conversations)
  const stop = store.conversations.subscribe(() => {})
  onTestFinished(async () => {
    stop()
    store.close()
    await close()
  })
  await vi.waitFor(() => expect(conversations.current.conversations).toMatchObject([{ title: 'Engines' }]), 10_000)
})
