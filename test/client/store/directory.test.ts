import { expect, it } from 'vitest'
import { startWorld, waitForView } from './world.ts'

const LISTED = { visibility: 'listed', policy: { join: 'anyone' } } as const

it('the directory has the public rooms by title, and follows what changes in them', async () => {
  const { chat, actor, ada, store, network } = await startWorld({ users: ['ada', 'grace'] })
  const host = await chat.system('host')
  const create = (title: string) => chat.conversations.create(host, { title, ...LISTED })
  const { conversation_id: engines } = await create('Engines')
  await create('Looms')
  await chat.conversations.create(host, { title: 'Secret' })
  const [all, found] = [store.directory(), store.directory({ query: 'eng' })]
  expect(store.directory({ query: 'eng' })).toBe(found)
  const stops = [all, found].map((list) => list.subscribe(() => {}))
  const titles = ({ conversations }: { conversations: readonly { title: string }[] }) =>
    conversations.map(({ title }) => title).join()
  const view = await waitForView(all, ({ status }) => status === 'ready')
  expect(view).toMatchObject({ has_more: false })
  expect(titles(view)).toBe('Engines,Looms')
  expect(titles(await waitForView(found, ({ status }) => status === 'ready'))).toBe('Engines')
  await waitForView(store.connection, ({ status }) => status === 'online')

  // Joined here or elsewhere, and counted.
  await ada.conversations.join(engines)
  await waitForView(found, ({ conversations }) => conversations[0]?.joined === true)
  await chat.participants.add(host, engines, { user_id: actor('grace').user_id })
  await waitForView(all, ({ conversations }) => conversations[0]?.participant_count === 2)
  await chat.conversations.rename(host, engines, { title: 'Steam' })
  await waitForView(all, (view) => titles(view) === 'Looms,Steam')
  await waitForView(found, (view) => titles(view) === '')
  await ada.conversations.leave(engines)
  await waitForView(all, ({ conversations }) => conversations[1]?.joined === false)

  // No event comes from rooms of others: the next stream has it read again.
  await create('Mills')
  network.cut()
  await waitForView(all, (view) => titles(view) === 'Looms,Mills,Steam')

  // What is said in rooms asks for nothing.
  await ada.conversations.join(engines)
  await waitForView(all, ({ conversations }) => conversations[2]?.joined === true)
  const reads = () => network.calls.filter((call) => call.endsWith('/api/conversations/directory')).length
  const room = store.conversation(engines)
  stops.push(room.subscribe(() => {}))
  await waitForView(room, ({ status }) => status === 'ready')
  const before = reads()
  await ada.messages.postRoot(engines, { content: 'It runs' })
  await waitForView(room, ({ messages }) => messages.at(-1)?.content === 'It runs')
  expect(reads()).toBe(before)
  // Nor does what changes in a private one.
  const { conversation_id: own } = await ada.conversations.create({ title: 'Own' })
  await waitForView(store.conversations, ({ conversations }) => conversations.some(({ title }) => title === 'Own'))
  await ada.conversations.rename(own, { title: 'Mine' })
  await waitForView(store.conversations, ({ conversations }) => conversations.some(({ title }) => title === 'Mine'))
  expect(reads()).toBe(before)
  // One that becomes private is gone.
  await chat.conversations.rename(host, engines, { visibility: 'private', policy: { join: 'invite' } })
  await waitForView(all, (view) => titles(view) === 'Looms,Mills')
  for (const stop of stops) stop()
})

it('the directory is read page by page, also where a page of a query has none', async () => {
  const { chat, store } = await startWorld()
  const host = await chat.system('host')
  for (let n = 0; n < 60; n++)
    await chat.conversations.create(host, { title: `Room ${String(n).padStart(2, '0')}`, ...LISTED })
  const list = store.directory()
  const stop = list.subscribe(() => {})
  expect((await waitForView(list, ({ status }) => status === 'ready')).conversations).toHaveLength(50)
  expect(list.getSnapshot().has_more).toBe(true)
  await list.loadMore()
  const { conversations, has_more } = list.getSnapshot()
  expect(conversations.map(({ title }) => title)).toEqual([...conversations].map(({ title }) => title).sort())
  expect([conversations.length, has_more]).toEqual([60, false])
  stop()
})

it('the directory refuses options with unknown names', async () => {
  const { store } = await startWorld()
  expect(() => store.directory({ q: 'eng' } as never)).toThrow('store.directory has no "q", only query')
})
