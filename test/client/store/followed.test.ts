import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { followedThreadsOf } from '../../../lib/client/store/parts.ts'
import { isReady, startWorld, waitForView } from './world.ts'

type World = Awaited<ReturnType<typeof startRooms>>

/** Conversations of Grace with Ada: one as people read it, one by topics. */
async function startRooms() {
  const world = await startWorld()
  const rooms: string[] = []
  for (const layout of ['stream', 'topics'] as const) {
    const { conversation_id } = await world.grace.conversations.create({ title: layout, layout })
    await world.grace.participants.add(conversation_id, { user_id: world.actor('ada').user_id })
    rooms.push(conversation_id)
  }
  const part = followedThreadsOf(world.store)
  // Ada on another device: what she does there does not pass the network of the store.
  return { ...world, rooms: rooms as [string, string], part, elsewhere: world.client('ada'), roots: [] as string[] }
}

const post = (world: World, name: 'grace' | 'elsewhere', room: number, content: string) =>
  world[name].messages.postRoot(world.rooms[room]!, { content }).then(({ root_id }) => {
    world.roots.push(root_id)
    return root_id
  })

const excerptsOf = ({ part }: World) => part.getSnapshot().threads.map(({ root_excerpt }) => root_excerpt)

it('moves a thread to the front with a reply, without a request, and forgets what the user no longer follows', async () => {
  const world = await startRooms()
  const { part, grace, elsewhere, network, store } = world
  expect(part.getSnapshot()).toEqual({ status: 'loading', threads: [], unread: 0, has_more: false })
  const [first, second] = [await post(world, 'elsewhere', 0, 'first'), await post(world, 'elsewhere', 1, 'second')]
  const foreign = await post(world, 'grace', 0, 'foreign')
  for (const root of [first, second]) await grace.messages.reply(root, { content: 'Yes.' })
  const stop = part.subscribe(() => {})
  await waitForView(part, isReady)
  expect(excerptsOf(world)).toEqual(['second', 'first'])
  expect(part.getSnapshot()).toMatchObject({ unread: 2, has_more: false })

  const calls = network.calls.length
  await grace.messages.reply(first, { content: 'More.' })
  await waitForView(part, () => excerptsOf(world)[0] === 'first')
  expect(part.getSnapshot()).toMatchObject({ unread: 2, threads: [{ unread_replies: 2, message_count: 3 }, {}] })
  await grace.threads.setTitle(first, { title: 'Steam' }).catch(() => {})
  await elsewhere.threads.setTitle(first, { title: 'Steam' })
  await waitForView(part, ({ threads }) => threads[0]!.title === 'Steam')
  expect(network.calls.length).toBe(calls)

  await elsewhere.threads.markRead(first)
  await waitForView(part, ({ unread }) => unread === 1)
  await elsewhere.conversations.markRead(world.rooms[1], { all: true })
  await waitForView(part, ({ unread }) => unread === 0)

  // One that is not followed is read for once.
  await grace.messages.reply(foreign, { content: 'one' })
  await vi.waitFor(
    () => expect(network.calls.filter((call) => call === 'GET /api/threads').length).toBeGreaterThan(3),
    { timeout: 30_000 },
  )
  const reads = network.calls.filter((call) => call === 'GET /api/threads').length
  await grace.messages.reply(foreign, { content: 'two' })
  await grace.messages.reply(second, { content: 'three' })
  await waitForView(part, ({ unread }) => unread === 1)
  expect(network.calls.filter((call) => call === 'GET /api/threads')).toHaveLength(reads)
  await elsewhere.threads.follow(foreign)
  await waitForView(part, ({ threads }) => threads.length === 3)

  await elsewhere.threads.unfollow(second)
  await waitForView(part, ({ threads, unread }) => threads.length === 2 && unread === 0)
  stop()
  store.close()
})

it('takes the counts of a followed thread from their event: neither its messages nor the threads are read again', async () => {
  const world = await startRooms()
  const { grace, elsewhere, network, store, rooms } = world
  const root = await post(world, 'elsewhere', 0, 'first')
  const [room, threads, replies] = [store.conversation(rooms[0]), store.threads(rooms[0]), store.replies(root)]
  const stops = [room, threads, replies].map((part) => part.subscribe(() => {}))
  for (const part of [room, threads, replies]) await waitForView<{ status: string }>(part, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  const calls = network.calls.length
  // The counts after the first are sent at once, those after the others a second later.
  for (let count = 1; count <= 3; count++) {
    await grace.messages.reply(root, { content: `reply ${count}` })
    await waitForView(threads, ({ threads }) => threads[0]!.unread_replies === count)
    await waitForView(replies, ({ messages }) => messages.length === count)
  }
  await waitForView(room, ({ unread }) => unread === 3)
  expect(room.getSnapshot().messages[0]!.thread).toMatchObject({ following: true, unread_replies: 3 })
  expect(network.calls.slice(calls)).toEqual([])

  // What is marked elsewhere is another set of messages: it is read.
  await elsewhere.threads.markRead(root, { message_id: replies.getSnapshot().messages[1]!.id })
  await waitForView(
    replies,
    ({ messages }) => messages.map(({ unread }) => unread === true).join() === 'false,false,true',
  )
  await waitForView(room, ({ unread }) => unread === 1)
  await waitForView(threads, ({ threads }) => threads[0]!.unread_replies === 1)
  for (const stop of stops) stop()
  store.close()
})

it('reads further pages, and a thread of a later one moves to the front', async () => {
  const world = await startRooms()
  const { part, chat, actor, store } = world
  for (let n = 0; n < 60; n++) {
    const { root_id } = await chat.messages.postRoot(actor('ada'), world.rooms[1], { content: `${n}` })
    await chat.messages.reply(actor('grace'), root_id, { content: 'Yes.' })
    world.roots.push(root_id)
  }
  const stop = part.subscribe(() => {})
  await waitForView(part, isReady)
  expect(part.getSnapshot()).toMatchObject({ unread: 60, has_more: true })
  expect(excerptsOf(world).at(-1)).toBe('10')
  await chat.messages.reply(actor('grace'), world.roots[3]!, { content: 'Again.' })
  await waitForView(part, () => excerptsOf(world)[0] === '3')
  await part.loadMore()
  expect(new Set(excerptsOf(world)).size).toBe(60)
  expect(part.getSnapshot()).toMatchObject({ unread: 60, has_more: false })
  stop()
  store.close()
})

/** What happens to the threads, and to the connection. */
const ACTIONS: Record<string, (world: World, root: string, pick: number) => unknown> = {
  post: (world, _, pick) => post(world, pick % 3 ? 'elsewhere' : 'grace', pick % 2, `post ${pick}`),
  reply: ({ grace }, root, pick) => grace.messages.reply(root, { content: `reply ${pick}` }),
  replyAgain: ({ grace }, root, pick) => grace.messages.reply(root, { content: `again ${pick}` }),
  replyOwn: ({ elsewhere }, root, pick) => elsewhere.messages.reply(root, { content: `own ${pick}` }),
  mention: ({ grace }, root) => grace.messages.reply(root, { content: 'What do you say, @ada?' }),
  edit: async (world, root, pick) =>
    world.grace.messages.edit(await idAt(world, root, pick), { content: `edit ${pick}` }),
  remove: async (world, root, pick) => world.grace.messages.remove(await idAt(world, root, pick)),
  restore: async (world, root, pick) => world.grace.messages.restore(await idAt(world, root, pick)),
  title: ({ grace }, root, pick) => grace.threads.setTitle(root, { title: pick % 2 ? `title ${pick}` : '' }),
  follow: ({ elsewhere }, root) => elsewhere.threads.follow(root),
  unfollow: ({ elsewhere }, root) => elsewhere.threads.unfollow(root),
  markRead: async (world, root, pick) =>
    world.elsewhere.threads.markRead(root, pick % 2 ? { message_id: await idAt(world, root, pick) } : {}),
  markUnread: async (world, root, pick) =>
    world.elsewhere.threads.markUnread(root, { message_id: await idAt(world, root, pick) }),
  markAll: ({ elsewhere, rooms }, _, pick) =>
    elsewhere.conversations.markRead(rooms[pick % 2]!, { all: pick % 3 === 0 }),
  more: ({ part }) => void part.loadMore(),
  cut: ({ network }) => network.cut(),
  lose: ({ network }) => {
    network.forget()
    network.cut()
  },
  offline: ({ network }) => {
    network.isOffline = true
    network.cut()
  },
  online: ({ network }) => {
    network.isOffline = false
  },
  pass: () => new Promise(setImmediate),
}

async function idAt({ elsewhere }: World, root_id: string, pick: number): Promise<string> {
  const { messages } = await elsewhere.threads.tree(root_id)
  return messages[pick % messages.length]!.id
}

const step = fc.record({ action: fc.constantFrom(...Object.keys(ACTIONS)), pick: fc.nat(1000) })

it('is what the API reads after any history of replies, follows, marks and lost connections', {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(fc.array(step, { size: 'max', maxLength: 25 }), async (steps) => {
    const world = await startRooms()
    for (let n = 0; n < 4; n++) await post(world, n < 2 ? 'elsewhere' : 'grace', n % 2, `root ${n}`)
    const stop = world.part.subscribe(() => {})
    await waitForView(world.part, isReady)
    for (const { action, pick } of steps)
      try {
        await ACTIONS[action]!(world, world.roots[pick % world.roots.length]!, pick)
      } catch (error) {
        if (!(error as { code?: string }).code) throw error
      }
    world.network.isOffline = false
    await vi.waitFor(
      async () => {
        const { status, threads, unread } = world.part.getSnapshot()
        const all = await world.elsewhere.threads.listFollowed({ limit: 200 })
        // No event has the number of authors.
        const exact = (list: typeof threads) => list.map(({ participant_count: _, ...thread }) => thread)
        expect({ status, threads: exact(threads), unread }).toEqual({
          status: 'ready',
          threads: exact(all.threads),
          unread: all.unread,
        })
      },
      { timeout: 30_000, interval: 10 },
    )
    stop()
    world.store.close()
  })
  await fc.assert(property, { numRuns: Number(process.env.STORE_RUNS ?? 8), endOnFailure: true })
})
