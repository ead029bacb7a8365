import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import type { AssistantRequest } from '../../../lib/assistant/provider.ts'
import type { AdminClient } from '../../../lib/client/admin.ts'
import type { Message, ThreadReader } from '../../../lib/client/index.ts'
import type { ChatStore, PendingPost } from '../../../lib/client/store/index.ts'
import { inboxOf, pinsOf, receiptsOf } from '../../../lib/client/store/parts.ts'
import { createTestChat, type TestChat } from '../../../lib/testing/index.ts'
import { innerState } from '../../support/service.ts'
import { connect, type Network } from './world.ts'

interface World {
  test: TestChat
  store: ChatStore
  network: Network
  /** The reader of the store, and another participant; each also acts beside the store. */
  clients: AdminClient[]
  conversation_id: string
  root_id: string
  messages: string[]
  direct_id: string
  directs: string[]
}

type Act = (world: World, by: AdminClient, pick: number) => unknown

const pickOf = ({ messages }: World, pick: number) => messages[pick % messages.length]!

const SETTINGS: NonNullable<Parameters<ChatStore['setSettings']>[1]>[] = [
  { archived: true },
  { archived: false },
  { level: 'all' },
  { level: 'mentions', archived: true },
  { level: 'none' },
  { muted_until: 'forever' },
  { muted_until: null },
]
const POLICIES = [
  { mention_all: 'members' },
  { mention_all: 'nobody' },
  { receipts: 'on' },
  { receipts: 'off' },
] as const
const NAMES = ['@ada', '@grace', '@all', '']
const EMOJI = ['👍', '❤', '❤\uFE0F']

/** What happens to a conversation, to the connection, and through the store. */
const ACTIONS: Record<string, Act> = {
  reply: async (world, by, pick) =>
    world.messages.push((await by.messages.reply(pickOf(world, pick), { content: `reply ${pick}` })).message_id),
  quote: async (world, by, pick) =>
    world.messages.push(
      (
        await by.messages.reply(pickOf(world, pick), {
          content: `quotes ${pick}`,
          quote_id: pickOf(world, Math.floor(pick / 7)),
        })
      ).message_id,
    ),
  mention: async (world, by, pick) =>
    world.messages.push(
      (await by.messages.reply(pickOf(world, pick), { content: `${NAMES[pick % 4]} ${pick}` })).message_id,
    ),
  direct: async (world, by, pick) => {
    const parent_id = world.directs[pick % (world.directs.length + 1)]
    const content = `direct ${pick}`
    const posted = parent_id
      ? by.messages.reply(parent_id, { content })
      : by.messages.postRoot(world.direct_id, { content })
    world.directs.push((await posted).message_id)
  },
  changeDirect: ({ directs }, by, pick) => {
    const id = directs[pick % directs.length]!
    if (pick % 3 === 0) return by.messages.restore(id)
    return pick % 3 === 1 ? by.messages.remove(id) : by.messages.edit(id, { content: `edit ${pick}` })
  },
  readNotifications: async (_, by, pick) => {
    const { notifications } = await by.notifications.list({ limit: 3 })
    const id = notifications[pick % notifications.length]?.id
    if (id) await by.notifications.markRead(pick % 2 ? { ids: [id] } : { up_to: id })
  },
  readShown: ({ store }, _, pick) => {
    const { notifications } = inboxOf(store).notifications().getSnapshot()
    const id = notifications[pick % notifications.length]?.id
    if (id)
      void inboxOf(store)
        .markRead(pick % 2 ? { ids: [id] } : { up_to: id })
        .catch(() => {})
  },
  ask: async (world, by, pick) =>
    world.messages.push(
      (await by.messages.reply(pickOf(world, pick), { content: `ask ${pick}`, role: 'assistant' })).message_id,
    ),
  cancel: (world, by, pick) => by.answers.cancel(pickOf(world, pick)),
  edit: (world, by, pick) => by.messages.edit(pickOf(world, pick), { content: `edit ${NAMES[pick % 4]} ${pick}` }),
  remove: (world, by, pick) => by.messages.remove(pickOf(world, pick)),
  restore: (world, by, pick) => by.messages.restore(pickOf(world, pick)),
  react: (world, by, pick) => by.reactions.add(pickOf(world, pick), EMOJI[pick % 3]!),
  unreact: (world, by, pick) => by.reactions.remove(pickOf(world, pick), EMOJI[pick % 3]!, { all: pick % 4 === 0 }),
  pin: (world, by, pick) => by.pins.add(pickOf(world, pick)),
  unpin: (world, by, pick) => by.pins.remove(pickOf(world, pick)),
  newThread: ({ conversation_id }, by, pick) => by.messages.postRoot(conversation_id, { content: `root ${pick}` }),
  set: (world, by, pick) =>
    by.conversations.setSettings(pick % 3 ? world.conversation_id : world.direct_id, SETTINGS[pick % SETTINGS.length]),
  setShown: ({ store, conversation_id }, _, pick) =>
    void store.setSettings(conversation_id, SETTINGS[pick % SETTINGS.length]!).catch(() => {}),
  newConversation: async ({ test, clients }, by, pick) => {
    const { conversation_id } = await by.conversations.create({ title: `title ${pick}` })
    const other = by === clients[0] ? 'grace' : 'ada'
    await by.participants.add(conversation_id, { user_id: test.actor(other).user_id })
  },
  rename: ({ conversation_id }, by, pick) => by.conversations.rename(conversation_id, { title: `title ${pick}` }),
  setPolicy: ({ conversation_id }, by, pick) =>
    by.conversations.rename(conversation_id, { policy: POLICIES[pick % 4]! }),
  // No event tells others of it.
  setReceipts: ({ conversation_id, clients: [ada] }, _, pick) =>
    ada!.conversations.setSettings(conversation_id, { receipts: pick % 3 > 0 }),
  markRead: ({ root_id }, by) => by.threads.markRead(root_id),
  markUnread: (world, by, pick) => by.threads.markUnread(world.root_id, { message_id: pickOf(world, pick) }),
  post: (world, _, pick) => {
    const { conversation_id, root_id } = world
    void world.store.post({ conversation_id, root_id, parent_id: pickOf(world, pick), content: `post ${pick}` })
  },
  postRoot: ({ store, conversation_id }, _, pick) =>
    void store.post({ conversation_id, content: `post ${pick}`, role: pick % 2 ? 'user' : 'assistant' }),
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

async function* assistant({ turns }: AssistantRequest) {
  yield* ['You ', 'said ']
  await new Promise(setImmediate)
  if (turns.at(-1)!.content.endsWith('3')) throw new Error('of no use')
  yield turns.at(-1)!.content
  yield { usage: { total_tokens: turns.length } }
}

const step = fc.record({ action: fc.constantFrom(...Object.keys(ACTIONS)), by: fc.nat(1), pick: fc.nat(1000) })

/** What happens before a page shows the world, and after; if it is `settled`, not before all parts are read. */
const history = fc.record({
  before: fc.array(step, { maxLength: 10 }),
  settled: fc.boolean(),
  after: fc.array(step, { size: 'max', maxLength: 20 }),
})

it('folds any history, through lost connections and positions, into what the API reads', {
  timeout: 120_000,
}, async () => {
  const property = fc.asyncProperty(history, async ({ before, settled, after }) => {
    const world = await begin()
    let ends: (() => void)[] = []
    try {
      for (const each of before) await act(world, each)
      ends = watch(world)
      if (settled) await settle(world)
      for (const each of after) await act(world, each)
      await settle(world)
    } finally {
      for (const end of ends) end()
      world.store.close()
      await world.test.close()
    }
  })
  await fc.assert(property, { numRuns: Number(process.env.STORE_RUNS ?? 10), endOnFailure: true })
})

/** Waits until the page shows what the API reads. */
async function settle(world: World): Promise<void> {
  world.network.isOffline = false
  await innerState(world.test).streams.receipts.flush()
  await vi.waitFor(async () => expect(shown(world)).toEqual(await read(world)), { timeout: 30_000, interval: 10 })
}

async function begin(): Promise<World> {
  const test = await createTestChat({ users: ['ada', 'grace'], assistant })
  const { network, store } = connect(test, 'ada')
  const grace = test.client('grace')
  const { conversation_id } = await grace.conversations.create({ title: 'Engines' })
  await grace.participants.add(conversation_id, { user_id: test.actor('ada').user_id, role: 'owner' })
  await grace.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
  const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'first' })
  const { conversation_id: direct_id } = await grace.conversations.direct({ username: 'ada' })
  const directs = [(await grace.messages.postRoot(direct_id, { content: 'direct' })).message_id]
  // What is done beside the store does not pass its network.
  const clients = [test.client('ada'), grace]
  return { test, store, network, clients, conversation_id, root_id, messages: [root_id], direct_id, directs }
}

const receiptsOfWorld = (store: ChatStore, root_id: string) => [
  receiptsOf(store).readers(root_id),
  receiptsOf(store).threadReaders(root_id),
]

/** None where receipts are off. */
const readersOr = (answer: Promise<{ readers: readonly ThreadReader[] }>) =>
  answer.then(
    ({ readers }) => readers,
    () => [],
  )

const FILTERS = [{}, { unread: true }, { kind: 'mention' }] as const

/** Shows everything, as a page does. */
function watch({ store, conversation_id, root_id }: World): (() => void)[] {
  const pins = pinsOf(store).list(conversation_id)
  const inbox = [store.unreadNotifications, ...FILTERS.map(inboxOf(store).notifications)]
  const lists = [store.conversations, store.archived, store.settings(conversation_id)]
  const parts = [...lists, store.threads(conversation_id), store.thread(root_id), store.unread, pins]
  return [...parts, ...inbox, ...receiptsOfWorld(store, root_id)].map((part) => part.subscribe(() => {}))
}

/** A refusal changes nothing. */
async function act(world: World, { action, by, pick }: { action: string; by: number; pick: number }): Promise<void> {
  try {
    await ACTIONS[action]!(world, world.clients[by]!, pick)
  } catch (error) {
    if (!(error as { code?: string }).code || (error as { code: string }).code === 'internal') throw error
  }
}

function shown({ store, conversation_id, root_id }: World) {
  const { conversations } = store.conversations.getSnapshot()
  const { threads, pending } = store.threads(conversation_id).getSnapshot()
  const { messages } = store.thread(root_id).getSnapshot()
  return {
    conversations,
    archived: store.archived.getSnapshot().conversations,
    settings: store.settings(conversation_id).getSnapshot().settings,
    unread: store.unread.getSnapshot(),
    // Counted when the list is read: who is new among the authors is not in an event.
    threads: threads.map((thread) => ({ ...thread, participant_count: 0 })),
    messages: messages.filter((message) => !isRefused(message.pending)),
    pins: pinsOf(store).list(conversation_id).getSnapshot().pins,
    unreadNotifications: store.unreadNotifications.getSnapshot(),
    inbox: FILTERS.map((filter) => inboxOf(store).notifications(filter).getSnapshot().notifications),
    readers: receiptsOfWorld(store, root_id).map((part) => part.getSnapshot().readers),
    pending,
  }
}

/** A post that the service refuses stays until it is discarded. */
function isRefused(post: PendingPost | undefined): boolean {
  return (post?.error as { code?: string } | undefined)?.code === 'message_deleted'
}

/** The same by new reads. */
async function read({ clients: [ada], conversation_id, root_id }: World): Promise<ReturnType<typeof shown>> {
  const { conversations } = await ada!.conversations.list({ limit: 200 })
  const { threads } = await ada!.threads.list(conversation_id, { limit: 200 })
  const { messages } = await ada!.threads.tree(root_id, { limit: 500 })
  const inbox = await Promise.all(FILTERS.map((filter) => ada!.notifications.list({ ...filter, limit: 200 })))
  return {
    conversations,
    archived: (await ada!.conversations.list({ archived: 'true', limit: 200 })).conversations,
    settings: await ada!.conversations.settings(conversation_id),
    unread: conversations.reduce((sum, { unread }) => sum + unread, 0),
    threads: threads.map((thread) => ({ ...thread, participant_count: 0 })),
    messages: messages as Message[],
    pins: (await ada!.pins.list(conversation_id)).pins,
    unreadNotifications: inbox[0]!.unread,
    inbox: inbox.map(({ notifications }) => notifications),
    readers: await Promise.all([
      readersOr(ada!.receipts.ofMessage(root_id)),
      readersOr(ada!.receipts.ofThread(root_id)),
    ]),
    pending: [],
  }
}
