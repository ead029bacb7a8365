import { expect, it } from 'vitest'
import type { ConversationStreamEvent } from '../../../lib/client/index.ts'
import { canOf } from '../../../lib/client/store/can.ts'
import type { Readable } from '../../../lib/client/store/index.ts'
import { followedThreadsOf, inboxOf } from '../../../lib/client/store/parts.ts'
import type { StoreClient } from '../../../lib/client/store/types.ts'
import { visit } from '../../../lib/client/store/visits.ts'
import { isReady, startWorld, textsOf, waitForView } from './world.ts'

const OPEN = { visibility: 'open', policy: { join: 'anyone' } } as const

/** A room that Ada reads without participating, with a thread. */
async function startVisit(layout: 'stream' | 'topics' = 'stream') {
  const world = await startWorld({ users: ['ada', 'grace', 'alan'] })
  const { chat, actor } = world
  const host = await chat.system('host')
  const { conversation_id } = await chat.conversations.create(host, { title: 'Engines', layout, ...OPEN })
  await chat.participants.add(host, conversation_id, { user_id: actor('grace').user_id, role: 'owner' })
  const { root_id } = await world.grace.messages.postRoot(conversation_id, { content: 'root' })
  await world.grace.messages.reply(root_id, { content: 'reply' })
  return { ...world, host, conversation_id, root_id }
}

const watch = (...parts: Readable<unknown>[]) => parts.map((part) => part.subscribe(() => {}))
const stopAll = (stops: (() => void)[]) => {
  for (const stop of stops) stop()
}

it('a room that its user has not joined is shown and followed, with nothing unread and no mark', async () => {
  const { store, network, grace, conversation_id, root_id } = await startVisit()
  const room = store.conversation(conversation_id)
  const replies = store.replies(root_id)
  const stops = watch(room, replies)
  const view = await waitForView(room, isReady)
  expect(textsOf(view.messages)).toEqual(['root'])
  expect(view).toMatchObject({ unread: 0 })
  await waitForView(replies, isReady)
  const streams = () => network.calls.filter((call) => call.endsWith(`/stream/conversations/${conversation_id}`))
  await expect.poll(() => streams().length).toBe(1)
  await grace.messages.postRoot(conversation_id, { content: 'live' })
  await grace.messages.reply(root_id, { content: 'live reply' })
  const { messages, unread } = await waitForView(room, ({ messages }) => messages.at(-1)?.content === 'live')
  expect(unread).toBe(0)
  expect(messages.some((message) => message.unread)).toBe(false)
  const { messages: all, root } = await waitForView(replies, ({ messages }) => messages.length === 2)
  expect(textsOf(all)).toEqual(['reply', 'live reply'])
  expect(all.some((message) => message.unread)).toBe(false)
  expect(root?.thread).not.toHaveProperty('following')
  expect(room.getSnapshot().messages[0]!.thread).toMatchObject({ reply_count: 2 })
  for (const own of ['following', 'unread_replies'])
    expect(room.getSnapshot().messages.every(({ thread }) => !thread || !(own in thread))).toBe(true)
  expect(network.calls.filter((call) => /^(POST|PUT|PATCH|DELETE)/.test(call))).toEqual([])
  expect(streams()).toHaveLength(1)
  stopAll(stops)
})

it('a room is shown as its participants see it once the user joins, also one without messages', async () => {
  const { store, ada, grace, chat, host, conversation_id, root_id } = await startVisit()
  const { conversation_id: empty } = await chat.conversations.create(host, { title: 'Empty', ...OPEN })
  await chat.participants.add(host, empty, { username: 'grace', role: 'owner' })
  const [room, other, can] = [
    store.conversation(conversation_id),
    store.conversation(empty),
    canOf(store).conversation(conversation_id),
  ]
  const stops = watch(room, other, can)
  await Promise.all([waitForView(room, isReady), waitForView(other, isReady)])
  expect((await waitForView(can, isReady)).can).toEqual(['join'])
  await ada.conversations.join(conversation_id)
  await ada.conversations.join(empty)
  await waitForView(can, ({ can }) => !!can?.includes('post'))
  await waitForView(room, ({ messages }) => messages[0]?.thread?.following === false)
  await grace.messages.postRoot(conversation_id, { content: 'to a participant' })
  await grace.messages.postRoot(empty, { content: 'to a participant' })
  for (const part of [room, other]) {
    const view = await waitForView(part, ({ unread }) => unread === 1)
    expect(view.messages.at(-1)).toMatchObject({ content: 'to a participant', unread: true })
  }
  await ada.messages.reply(root_id, { content: 'mine' })
  await waitForView(room, ({ messages }) => messages[0]?.thread?.following === true)
  stopAll(stops)
})

it('what is known of a room that its user has not joined follows who is in it, its title and its policy', async () => {
  const { store, grace, chat, host, actor, conversation_id } = await startVisit()
  const here = canOf(store).conversation(conversation_id)
  const stops = watch(here)
  const { conversation } = await waitForView(here, isReady)
  expect(conversation).toMatchObject({ title: 'Engines', joined: false })
  const { participant_count } = conversation!
  await waitForView(store.connection, ({ status }) => status === 'online')
  await chat.participants.add(host, conversation_id, { user_id: actor('alan').user_id, role: 'member' })
  await waitForView(here, (view) => view.conversation?.participant_count === participant_count + 1)
  await grace.conversations.rename(conversation_id, { title: 'Wheels', policy: { join: 'invite' } })
  await waitForView(here, (view) => view.conversation?.title === 'Wheels' && view.can?.length === 0)
  stopAll(stops)
})

it('the threads of a room that its user has not joined are followed, from the first one on', async () => {
  const { store, grace, chat, host, root_id, conversation_id } = await startVisit('topics')
  const { conversation_id: empty } = await chat.conversations.create(host, {
    title: 'Empty',
    layout: 'topics',
    ...OPEN,
  })
  await chat.participants.add(host, empty, { username: 'grace', role: 'owner' })
  const [list, other] = [store.threads(conversation_id), store.threads(empty)]
  const stops = watch(list, other)
  await Promise.all([waitForView(list, isReady), waitForView(other, isReady)])
  await grace.messages.reply(root_id, { content: 'more' })
  await waitForView(list, ({ threads }) => threads[0]?.message_count === 3)
  await grace.messages.postRoot(empty, { content: 'first' })
  await waitForView(other, ({ threads }) => threads.length === 1)
  for (const part of [list, other])
    for (const own of ['following', 'unread', 'unread_replies'])
      expect(part.getSnapshot().threads[0]).not.toHaveProperty(own)
  stopAll(stops)
})

it('a room that is made private is no longer shown, and followed no longer', async () => {
  const { store, network, chat, host, conversation_id } = await startVisit()
  const room = store.conversation(conversation_id)
  const stops = watch(room)
  await waitForView(room, isReady)
  await expect.poll(() => network.calls.some((call) => call.includes('/stream/conversations/'))).toBe(true)
  await chat.conversations.rename(host, conversation_id, { visibility: 'private', policy: { join: null } })
  const view = await waitForView(room, ({ status }) => status === 'failed')
  expect(view).toMatchObject({ messages: [], error: { code: 'not_found' } })
  const before = network.calls.length
  await chat.messages.postRoot(host, conversation_id, { content: 'secret' })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(network.calls.slice(before).filter((call) => call.includes('/stream/'))).toEqual([])
  stopAll(stops)
})

it('a room that its user has not joined makes none of the own lists be read again', async () => {
  const { store, network, chat, host, grace, actor, conversation_id, root_id } = await startVisit()
  const room = store.conversation(conversation_id)
  const own = [store.conversations, inboxOf(store).notifications(), followedThreadsOf(store)]
  const stops = watch(room, ...own)
  await waitForView(room, isReady)
  for (const part of own) await waitForView(part as Readable<{ status: string }>, isReady)
  const isFollowed = () => network.calls.some((call) => call.endsWith(`/stream/conversations/${conversation_id}`))
  await expect.poll(isFollowed).toBe(true)
  const before = network.calls.length
  await chat.conversations.rename(host, conversation_id, { topic: 'About engines' })
  await chat.participants.add(host, conversation_id, { user_id: actor('alan').user_id })
  const { message_id } = await grace.messages.reply(root_id, { content: 'more' })
  await grace.messages.remove(message_id)
  await grace.messages.restore(message_id)
  await grace.messages.postRoot(conversation_id, { content: 'last' })
  await waitForView(room, ({ messages }) => messages.at(-1)?.content === 'last')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const lists = ['GET /api/conversations', 'GET /api/notifications', 'GET /api/threads']
  expect(network.calls.slice(before).filter((call) => lists.includes(call))).toEqual([])
  stopAll(stops)
})

it('a room is followed by its own stream until its user joins, and again after the user has left', async () => {
  const message = (id: string) => ({ type: 'message.new', payload: { message: { id } } })
  const change = (user_id: string, action: string) => ({ type: 'membership.changed', payload: { user_id, action } })
  const ready = (resumed: boolean) => ({ type: 'stream.ready', payload: { resumed } })
  const events = [
    ready(false),
    message('from outside'),
    change('grace', 'added'),
    message('still from outside'),
    change('ada', 'added'),
    message('in the stream of all'),
    change('grace', 'role_updated'),
    ready(true),
    message('in the stream of all, too'),
    change('ada', 'role_updated'),
    message('as before'),
    change('ada', 'removed'),
    message('from outside again'),
    change('ada', 'added'),
    ready(false),
    message('after what was missed'),
  ]
  let isAtEnd = () => {}
  const atEnd = new Promise<void>((resolve) => (isAtEnd = resolve))
  const client = {
    events: {
      async *follow() {
        for (const event of events) yield { event }
        isAtEnd()
        await new Promise(() => {})
      },
    },
  }
  const seen: string[] = []
  const loads: number[] = []
  const visitor = {
    load: () => void loads.push(seen.length),
    apply: ({ type, payload }: ConversationStreamEvent) =>
      void seen.push(type === 'message.new' ? payload.message.id : type),
  }
  const own = { isOwn: true, apply: () => expect.unreachable() }
  const leave = visit(client as unknown as StoreClient, 'room', visitor, {
    followers: new Set([visitor, own]),
    userId: () => 'ada',
  })
  await atEnd
  leave()
  expect(seen).toEqual([
    'from outside',
    'membership.changed',
    'still from outside',
    'membership.changed',
    'membership.changed',
    'membership.changed',
    'from outside again',
    'membership.changed',
    'after what was missed',
  ])
  expect(loads).toEqual([0, 8])
})
