import { expect, it } from 'vitest'
import type { ThreadView } from '../../../lib/client/store/index.ts'
import { isReady, startThread, waitForView } from './world.ts'

/** Ada's store shows the first page of a thread of two. */
async function startLong() {
  const world = await startThread()
  const { chat, actor, root_id, thread } = world
  for (let index = 0; index < 210; index++)
    await chat.messages.reply(actor('grace'), root_id, { content: `reply ${index}` })
  await waitForView(thread, isReady)
  const seen: ThreadView[] = []
  const stop = thread.subscribe(() => seen.push(thread.getSnapshot()))
  return { ...world, seen, stop }
}

const end = ({ messages }: ThreadView) => messages.slice(200).map(({ content, detached }) => [content, detached])

it('keeps what is posted or arrives below the pages that were read, until its page is read', async () => {
  const { store, thread, reply, root_id, grace, seen, stop } = await startLong()
  const posted = store.post({ ...reply, content: 'Mine' })
  await grace.messages.reply(root_id, { content: 'Hers' })
  const { message_id } = (await posted)!
  await waitForView(thread, ({ messages }) => messages.length === 202 && messages.every(({ pending }) => !pending))
  // Shown since the click, in each view.
  expect(seen.every(({ messages }) => messages.some(({ content }) => content === 'Mine'))).toBe(true)
  expect(end(thread.getSnapshot()).sort()).toEqual([
    ['Hers', true],
    ['Mine', true],
  ])

  await grace.messages.reply(message_id, { content: 'Below mine' })
  await waitForView(thread, ({ messages }) => messages.length === 203)
  await thread.loadMore()
  const { messages, has_more } = thread.getSnapshot()
  expect(has_more).toBe(false)
  expect(messages.filter(({ detached }) => detached)).toEqual([])
  expect(messages.map(({ id }) => id)).toEqual(
    (await grace.threads.tree(root_id, { limit: 500 })).messages.map(({ id }) => id),
  )
  stop()
})

it('changes them by their events, and reads them again when its place in the stream is lost', async () => {
  const { network, thread, root_id, grace, conversation_id, stop } = await startLong()
  const first = await grace.messages.reply(root_id, { content: 'First' })
  const second = await grace.messages.reply(root_id, { content: 'Second' })
  await waitForView(thread, ({ messages }) => messages.length === 202)
  await grace.messages.edit(first.message_id, { content: 'Edited' })
  await waitForView(thread, ({ messages }) => messages[200]!.content === 'Edited')

  network.isOffline = true
  network.forget()
  network.cut()
  await grace.messages.edit(first.message_id, { content: 'Edited again' })
  await grace.messages.remove(second.message_id)
  await grace.messages.postRoot(conversation_id, { content: 'Elsewhere' })
  network.isOffline = false
  await waitForView(thread, ({ messages }) => messages[200]!.content === 'Edited again')
  expect(thread.getSnapshot().messages[201]).toMatchObject({ id: second.message_id, content: '', detached: true })
  stop()
})

it('keeps the latest fifty', async () => {
  const { thread, root_id, chat, actor, stop } = await startLong()
  for (let index = 0; index < 60; index++) await chat.messages.reply(actor('grace'), root_id, { content: `${index}` })
  await waitForView(thread, ({ messages }) => messages.at(-1)!.content === '59')
  expect(end(thread.getSnapshot()).map(([content]) => content)).toEqual(
    Array.from({ length: 50 }, (_, index) => `${index + 10}`),
  )
  stop()
})
