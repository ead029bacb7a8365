import { expect, it, onTestFinished, vi } from 'vitest'
import { toQuote } from '../../../lib/client/store/quotes.ts'
import { createTestChat } from '../../../lib/testing/index.ts'

async function* assistant() {
  yield 'It computes.'
}

it.each(['user', 'assistant'] as const)('quotes a message with the role %s as the service does', async (role) => {
  const test = await createTestChat({ users: ['ada'], assistant })
  onTestFinished(() => test.close())
  const ada = test.client('ada')
  const { conversation_id } = await ada.conversations.create()
  const { message_id, root_id } = await ada.messages.postRoot(conversation_id, { content: 'An engine', role })
  const { message } = await ada.messages.reply(message_id, { content: 'This one', quote_id: message_id })
  const asRead = async () => (await ada.messages.get(message.id)).quote
  await vi.waitFor(async () => expect((await ada.messages.get(root_id)).status).toBe('complete'), { timeout: 30_000 })
  expect(toQuote(await ada.messages.get(message_id))).toEqual(await asRead())
  await ada.messages.remove(message_id)
  expect(await asRead()).toMatchObject({ deleted: true })
  expect(toQuote(await ada.messages.get(message_id))).toEqual(await asRead())
})
