import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { AdminClient } from '../../../lib/client/admin.ts'
import type { MessagesView } from '../../../lib/client/store/index.ts'
import { isReady, startThread, startWorld, textsOf, waitForView } from './world.ts'

type World = Awaited<ReturnType<typeof startWorld>> & { conversation_id: string; elsewhere: AdminClient }

/** A conversation of Grace, with Ada and as many roots. */
async function startRoom(count: number, layout: 'stream' | 'topics' = 'stream'): Promise<World> {
  const world = await startWorld()
  const { conversation_id } = await world.grace.conversations.create({ title: 'Engines', layout })
  await world.grace.participants.add(conversation_id, { user_id: world.actor('ada').user_id })
  for (let n = 0; n < count; n++)
    await world.chat.messages.postRoot(world.actor('grace'), conversation_id, { content: `${n}` })
  // Ada on another device: what she does there does not pass the network of the store.
  return { ...world, conversation_id, elsewhere: world.client('ada') }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `${from + index}`)

it('shows the newest messages by one request, and what is before and behind them', async () => {
  const { store, network, conversation_id, grace } = await startRoom(120)
  const part = store.conversation(conversation_id)
  expect(part.getSnapshot()).toEqual({
    status: 'loading',
    messages: [],
    has_older: false,
    has_newer: false,
    newer_count: 0,
    unread: 0,
  })
  const stop = part.subscribe(() => {})
  const newest = await waitForView(part, isReady)
  expect(textsOf(newest.messages)).toEqual(range(70, 120))
  expect(newest).toMatchObject({ has_older: true, has_newer: false })
  expect(network.calls.filter((call) => call.endsWith('/messages'))).toHaveLength(1)
  await part.loadOlder()
  expect(textsOf(part.getSnapshot().messages)).toEqual(range(20, 120))

  await part.jumpTo('unread')
  const first = part.getSnapshot()
  expect(first.messages[0]!.id).toBe(first.first_unread_id)
  expect(textsOf(first.messages)).toEqual(range(0, 25))
  expect(first).toMatchObject({ has_older: false, has_newer: true, newer_count: 0 })
  await grace.messages.postRoot(conversation_id, { content: '120' })
  const counted = await waitForView(part, ({ newer_count }) => newer_count === 1)
  expect(textsOf(counted.messages)).toEqual(range(0, 25))
  await Promise.all([part.loadNewer(), part.loadNewer()])
  expect(textsOf(part.getSnapshot().messages)).toEqual(range(0, 121))
  expect(part.getSnapshot()).toMatchObject({ has_newer: false, newer_count: 0 })
  stop()
})

it('counts what has arrived behind it, less what is read of that', async () => {
  const { store, conversation_id, grace } = await startRoom(60)
  const part = store.conversation(conversation_id)
  const stop = part.subscribe(() => {})
  await waitForView(part, isReady)
  await part.jumpTo('unread')
  for (let n = 60; n < 130; n++) await grace.messages.postRoot(conversation_id, { content: `${n}` })
  await waitForView(part, ({ newer_count }) => newer_count === 70)
  const left = () => 130 - Number(part.getSnapshot().messages.at(-1)!.content) - 1
  for (let pages = 0; part.getSnapshot().has_newer; pages++) {
    expect(pages).toBeLessThan(10)
    await part.loadNewer()
    expect(part.getSnapshot().newer_count).toBe(Math.min(left(), 70))
    await part.loadOlder()
  }
  expect(part.getSnapshot()).toMatchObject({ newer_count: 0 })
  stop()
})

it('moves to its end with a post of the user, which is shown at once and never vanishes', async () => {
  const { store, conversation_id } = await startRoom(120)
  const part = store.conversation(conversation_id)
  const views: MessagesView[] = []
  const stop = part.subscribe(() => views.push(part.getSnapshot()))
  await waitForView(part, isReady)
  await part.jumpTo('unread')
  const posted = store.post({ conversation_id, content: 'Mine' })
  await posted
  const view = await waitForView(
    part,
    ({ messages }) => messages.at(-1)!.content === 'Mine' && !messages.at(-1)!.pending,
  )
  expect(view).toMatchObject({ has_newer: false })
  expect(view.messages.at(-1)!.unread).toBeUndefined()
  const from = views.findIndex(({ messages }) => messages.at(-1)?.content === 'Mine')
  expect(
    views.slice(from).every(({ messages }) => textsOf(messages).filter((text) => text === 'Mine').length === 1),
  ).toBe(true)
  stop()
})

it('shows the title of a post from its beginning, with and without the stream', async () => {
  const { store, conversation_id, network, elsewhere } = await startRoom(1)
  const part = store.conversation(conversation_id)
  const titles: Record<string, Set<string | undefined>> = {}
  const stop = part.subscribe(() => {
    for (const { content, thread } of part.getSnapshot().messages)
      titles[content] = (titles[content] ?? new Set()).add(thread?.title)
  })
  await waitForView(part, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  await store.post({ conversation_id, title: 'Engines', content: 'with the stream' })
  await waitForView(part, ({ messages }) => !messages.at(-1)!.pending)
  network.before = (call) => {
    if (call === 'GET /api/stream') throw new TypeError('fetch failed')
  }
  network.cut()
  await waitForView(store.connection, ({ status }) => status !== 'online')
  const posted = (await store.post({ conversation_id, title: 'Pumps', content: 'without it' }))!
  expect(part.getSnapshot().messages.at(-1)).toMatchObject({ id: posted.message_id, thread: { title: 'Pumps' } })
  expect(titles).toEqual({
    0: new Set([undefined]),
    'with the stream': new Set(['Engines']),
    'without it': new Set(['Pumps']),
  })
  const stored = await elsewhere.threads.tree(posted.root_id)
  expect(stored.title).toBe('Pumps')
  stop()
})

it('keeps the later title when a post is sent again whose response was lost', async () => {
  const { store, conversation_id, network, elsewhere } = await startRoom(0)
  const part = store.conversation(conversation_id)
  const stop = part.subscribe(() => {})
  await waitForView(part, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  network.after = async (call) => {
    if (!call.endsWith('/root')) return
    network.after = () => {}
    const { messages } = await waitForView(part, ({ messages }) => messages.length === 1 && !messages[0]!.pending)
    await elsewhere.threads.setTitle(messages[0]!.id, { title: 'Pumps' })
    await waitForView(part, ({ messages }) => messages[0]!.thread?.title === 'Pumps')
    throw new TypeError('the response was lost')
  }
  await store.post({ conversation_id, title: 'Engines', content: 'It runs.' })
  expect(part.getSnapshot().messages).toMatchObject([{ content: 'It runs.', thread: { title: 'Pumps' } }])
  stop()
})

it('has the replies of a thread with its root, and their own posts in place', async () => {
  const { store, grace, root_id, reply, ada } = await startThread()
  const part = store.replies(root_id)
  const stop = part.subscribe(() => {})
  const empty = await waitForView(part, isReady)
  expect(empty).toMatchObject({ messages: [], root: { id: root_id, content: 'Does it run?' } })
  await grace.messages.reply(root_id, { content: 'It runs.' })
  await waitForView(part, ({ messages }) => messages.length === 1 && messages[0]!.unread === true)
  const posted = store.post({ ...reply, content: 'Indeed.' })
  const user_id = (await ada.auth.me()).user.id
  expect(part.getSnapshot().messages.at(-1)).toMatchObject({ content: 'Indeed.', author_user_id: user_id, depth: 1 })
  await posted
  await grace.messages.edit(root_id, { content: 'Does it still run?' })
  await waitForView(part, ({ root }) => root?.content === 'Does it still run?')
  await ada.threads.markRead(root_id)
  const { first_unread_id } = await waitForView(part, ({ messages }) => messages.every(({ unread }) => !unread))
  expect(first_unread_id).toBeUndefined()
  stop()
})

it('stays where it is when the message to jump to is gone, and moves when a failed reading is repeated', async () => {
  const { store, conversation_id, network } = await startRoom(60)
  const part = store.conversation(conversation_id)
  const stop = part.subscribe(() => {})
  const { messages } = await waitForView(part, isReady)
  await part.jumpTo('01890000-0000-7000-8000-000000000000')
  expect(part.getSnapshot()).toMatchObject({ status: 'ready', messages })
  let failures = 3
  network.before = (call) => {
    if (call.endsWith('/messages') && failures-- > 0) throw new TypeError('the connection was lost')
  }
  await part.loadOlder()
  await waitForView(part, (view) => view.messages.length === 60)
  stop()
})

it('counts a reply at its root without a request, and an own one once', async () => {
  const { store, conversation_id, network, grace, chat, actor } = await startRoom(2)
  const part = store.conversation(conversation_id)
  const stop = part.subscribe(() => {})
  const { messages } = await waitForView(part, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  const root_id = messages[0]!.id
  const sent = network.calls.length
  await chat.messages.reply(actor('grace'), root_id, { content: 'one' })
  await store.post({ conversation_id, root_id, parent_id: root_id, content: 'two' })
  const last = await grace.messages.reply(root_id, { content: 'three' })
  const [ada, other] = [actor('ada').user_id, actor('grace').user_id]
  const view = await waitForView(part, (view) => view.messages[0]!.thread!.reply_count === 3)
  expect(view.messages[0]!.thread!.last_replier_ids).toEqual([other, ada])
  const { thread } = (await chat.messages.list(actor('ada'), conversation_id)).messages[0]!
  expect(view.messages[0]!.thread).toEqual(thread)
  // So does a deletion: the event of another's has the thread as it is then.
  await chat.messages.remove(actor('grace'), last.message_id)
  const left = await waitForView(part, (view) => view.messages[0]!.thread!.reply_count === 2)
  expect(left.messages[0]!.thread!.last_replier_ids).toEqual([ada, other])
  expect(network.calls.slice(sent).filter((call) => call.startsWith('GET'))).toEqual([])
  stop()
})

it('marks its messages as read and as unread', async () => {
  const { store, conversation_id, network } = await startRoom(3)
  const part = store.conversation(conversation_id)
  const stop = part.subscribe(() => {})
  const { messages } = await waitForView(part, isReady)
  const unread = (view: MessagesView) => view.messages.map((message) => message.unread === true).join()
  await part.markRead(messages[1]!.id)
  const read = await waitForView(part, (view) => unread(view) === 'false,false,true')
  expect(read.first_unread_id).toBe(messages[2]!.id)
  const reads = network.calls.filter((call) => call.startsWith('GET') && call.endsWith('/messages'))
  expect(reads).toHaveLength(1)
  await part.markUnread(messages[0]!.id)
  await waitForView(part, (view) => unread(view) === 'true,true,true')
  await part.markRead()
  await waitForView(part, (view) => unread(view) === 'false,false,false' && view.first_unread_id === undefined)
  stop()
})

it('marks all messages as unread from one on: of its thread, and the first ones of later threads', async () => {
  const { store, conversation_id, grace } = await startRoom(3)
  const part = store.conversation(conversation_id, { view: 'all' })
  const stop = part.subscribe(() => {})
  const [first, second] = (await waitForView(part, isReady)).messages
  const { message } = await grace.messages.reply(first!.id, { content: 'one' })
  await grace.messages.reply(second!.id, { content: 'two' })
  await grace.messages.reply(first!.id, { content: 'three' })
  await grace.messages.postRoot(conversation_id, { content: 'last' })
  const unread = (view: MessagesView) => textsOf(view.messages.filter(({ unread }) => unread)).join()
  await waitForView(part, ({ messages }) => messages.length === 7)
  await part.markRead()
  await waitForView(part, (view) => unread(view) === '')
  await part.markUnread(message.id)
  await waitForView(part, (view) => unread(view) === 'one,three,last')
  await part.markRead()
  await waitForView(part, (view) => unread(view) === '')
  await part.markUnread(first!.id)
  await waitForView(part, (view) => unread(view) === '0,1,2,one,three,last')
  stop()
})

it('shows what comes after a lost stream only once it has what was missed', async () => {
  const { store, conversation_id, grace, network } = await startRoom(3)
  const part = store.conversation(conversation_id)
  const views: string[][] = []
  const stop = part.subscribe(() => views.push(textsOf(part.getSnapshot().messages)))
  await waitForView(part, isReady)
  await waitForView(store.connection, ({ status }) => status === 'online')
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let isAsked = false
  network.before = async (call) => {
    if (!call.endsWith('/messages')) return
    isAsked = true
    await released
  }
  network.isOffline = true
  network.forget()
  network.cut()
  await grace.messages.postRoot(conversation_id, { content: 'missed' })
  network.isOffline = false
  await vi.waitFor(() => expect(isAsked).toBe(true), { timeout: 30_000 })
  await grace.messages.postRoot(conversation_id, { content: 'after @ada' })
  // By then its events have come.
  await waitForView(store.unreadNotifications, (unread) => unread === 1)
  release()
  await waitForView(part, ({ messages }) => messages.at(-1)!.content === 'after @ada')
  expect(views.filter((texts) => texts.includes('after @ada') && !texts.includes('missed'))).toEqual([])
  stop()
})

it('keeps at most a thousand messages, and drops those at its other end', async () => {
  const { store, conversation_id, chat, actor } = await startRoom(1_080)
  const part = store.conversation(conversation_id)
  const stop = part.subscribe(() => {})
  await waitForView(part, isReady)
  for (let page = 0; page < 20; page++) await part.loadOlder()
  expect(textsOf(part.getSnapshot().messages)).toEqual(range(30, 1_030))
  expect(part.getSnapshot().has_newer).toBe(true)
  await part.loadNewer()
  expect(textsOf(part.getSnapshot().messages)).toEqual(range(80, 1_080))
  await chat.messages.postRoot(actor('grace'), conversation_id, { content: '1080' })
  await waitForView(part, ({ messages }) => messages.at(-1)!.content === '1080')
  expect(part.getSnapshot().messages).toHaveLength(1_000)
  await part.loadOlder()
  expect(textsOf(part.getSnapshot().messages)).toEqual(range(31, 1_031))
  stop()
})

it('counts what is unread of the conversation, with what arrives and is marked', async () => {
  const { store, conversation_id, elsewhere, grace, network } = await startRoom(60, 'topics')
  const [list, part] = [store.conversations, store.conversation(conversation_id)]
  const stops = [list, part].map((each) => each.subscribe(() => {}))
  await Promise.all([waitForView(list, isReady), waitForView(part, isReady)])
  expect(part.getSnapshot().unread).toBe(60)
  const unreadReplies = () => list.getSnapshot().conversations[0]!.unread_replies
  const { root_id } = await elsewhere.messages.postRoot(conversation_id, { content: 'mine' })
  const threads = store.threads(conversation_id)
  stops.push(threads.subscribe(() => {}))
  await waitForView(threads, (view) => view.threads[0]?.following === true)
  // The list of threads is read for what the user follows.
  const reads = () => network.calls.filter((call) => call.startsWith('GET') && !call.endsWith('/threads')).length
  const before = reads()
  await grace.messages.postRoot(conversation_id, { content: 'theirs' })
  await grace.messages.reply(part.getSnapshot().messages[0]!.id, { content: 'elsewhere' })
  await waitForView(part, ({ unread }) => unread === 62)
  expect(unreadReplies()).toBe(0)
  await grace.messages.reply(root_id, { content: 'to mine' })
  await waitForView(part, ({ unread }) => unread === 63)
  await waitForView(list, () => unreadReplies() === 1)
  expect(reads()).toBe(before)
  const replies = store.replies(root_id)
  stops.push(replies.subscribe(() => {}))
  await waitForView(replies, (view) => isReady(view) && view.unread === 1)
  await elsewhere.conversations.markRead(conversation_id, { all: true })
  await Promise.all([part, replies].map((each) => waitForView(each, ({ unread }) => unread === 0)))
  await waitForView(list, () => unreadReplies() === 0)
  for (const stop of stops) stop()
})

/** What happens in the room, to the connection, and in the window. */
const ACTIONS: Record<string, (world: World, pick: number) => unknown> = {
  post: ({ grace, conversation_id }, pick) =>
    grace.messages.postRoot(conversation_id, { content: `post ${pick}`, ...(pick % 2 && { title: `title ${pick}` }) }),
  setTitle: async (world, pick) =>
    world.grace.threads.setTitle(await idAt(world, pick), { title: pick % 3 ? `named ${pick}` : '' }),
  postOwn: ({ store, conversation_id }, pick) => void store.post({ conversation_id, content: `own ${pick}` }),
  postElsewhere: ({ elsewhere, conversation_id }, pick) =>
    elsewhere.messages.postRoot(conversation_id, { content: `else ${pick}` }),
  edit: async (world, pick) => world.grace.messages.edit(await idAt(world, pick), { content: `edit ${pick}` }),
  remove: async (world, pick) => world.grace.messages.remove(await idAt(world, pick)),
  restore: async (world, pick) => world.grace.messages.restore(await idAt(world, pick)),
  reply: async (world, pick) => world.grace.messages.reply(await idAt(world, pick), { content: `reply ${pick}` }),
  markRead: async (world, pick) => world.elsewhere.threads.markRead(await idAt(world, pick)),
  markAll: async (world, pick) => {
    const message_id = await idAt(world, pick)
    const all = pick % 2 === 0
    await world.elsewhere.conversations.markRead(world.conversation_id, pick % 3 ? { all, message_id } : { all })
  },
  markShown: ({ store, conversation_id }) =>
    void store
      .conversation(conversation_id)
      .markRead()
      .catch(() => {}),
  markUnread: async (world, pick) =>
    world.elsewhere.conversations.markUnread(world.conversation_id, { message_id: await idAt(world, pick) }),
  older: ({ store, conversation_id }) => void store.conversation(conversation_id).loadOlder(),
  newer: ({ store, conversation_id }) => void store.conversation(conversation_id).loadNewer(),
  jump: async (world, pick) => {
    const part = world.store.conversation(world.conversation_id)
    void part.jumpTo(pick % 3 === 0 ? 'newest' : pick % 3 === 1 ? 'unread' : await idAt(world, pick))
  },
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

async function listAll({ grace, conversation_id }: World, as = grace) {
  const { messages, next_before } = await as.messages.list(conversation_id, { limit: 200 })
  expect(next_before).toBeUndefined()
  return messages
}

async function idAt(world: World, pick: number): Promise<string> {
  const messages = await listAll(world)
  return messages[pick % messages.length]!.id
}

/** Waits until the window shows a part of the list as the API reads it. */
async function settle(world: World): Promise<void> {
  world.network.isOffline = false
  await vi.waitFor(
    async () => {
      const part = world.store.conversation(world.conversation_id)
      const { status, messages, has_older, has_newer, unread } = part.getSnapshot()
      const all = await listAll(world, world.elsewhere)
      const from = all.findIndex(({ id }) => id === messages[0]?.id)
      expect(status).toBe('ready')
      expect(unread).toBe((await world.elsewhere.threads.unread(world.conversation_id)).unread)
      expect(messages).toEqual(all.slice(from, from + messages.length))
      expect([has_older, has_newer]).toEqual([from > 0, from + messages.length < all.length])
    },
    { timeout: 30_000, interval: 10 },
  )
}

/** The ids of messages of others: the user's own may be ahead of the stream, as their responses have them. */
const othersOf = (messages: MessagesView['messages'], user_id: string) =>
  messages.flatMap(({ id, author_user_id, pending }) => (pending || author_user_id === user_id ? [] : id))

const step = fc.record({ action: fc.constantFrom(...Object.keys(ACTIONS)), pick: fc.nat(1000) })

it('has no gap after any history of posts, moves and lost connections, and shows what the API reads', {
  timeout: 120_000,
}, async () => {
  const layouts = fc.constantFrom('stream' as const, 'topics' as const)
  const property = fc.asyncProperty(layouts, fc.array(step, { size: 'max', maxLength: 25 }), async (layout, steps) => {
    const world = await startRoom(70, layout)
    const part = world.store.conversation(world.conversation_id)
    const { user_id } = world.actor('ada')
    const shown: string[][] = []
    const stop = part.subscribe(() => shown.push(othersOf(part.getSnapshot().messages, user_id)))
    for (const { action, pick } of steps)
      try {
        await ACTIONS[action]!(world, pick)
      } catch (error) {
        if (!(error as { code?: string }).code) throw error
      }
    await settle(world)
    const ids = othersOf(await listAll(world), user_id)
    for (const view of shown) {
      const from = view.length === 0 ? 0 : ids.indexOf(view[0]!)
      expect(view).toEqual(ids.slice(from, from + view.length))
    }
    stop()
    world.store.close()
  })
  await fc.assert(property, { numRuns: Number(process.env.STORE_RUNS ?? 8), endOnFailure: true })
})
