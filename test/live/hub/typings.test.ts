import { afterEach, expect, it, vi } from 'vitest'
import type { Message } from '../../../lib/client/index.ts'
import { toInstant } from '../../../lib/core/time.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { createTypings } from '../../../lib/live/hub/typings.ts'
import type { Delivered } from '../../../lib/live/readers/delivery.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, startService, type TestService } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

const NOW = 1_000 * SECOND
const typing = (user_id: string, seconds = 6, root_id?: string) => ({
  type: 'typing.update' as const,
  payload: {
    conversation_id: 'room',
    user_id,
    expires_at: toInstant(NOW + seconds * SECOND),
    ...(root_id && { root_id }),
  },
})
const post = (author: object, conversation_id = 'room') => {
  const message = { conversation_id, created_at: toInstant(NOW + 1), ...author }
  return { conversation_id, event: { type: 'message.new', payload: { message } } } as unknown as Delivered
}
const end = (user_id: string, root_id?: string) => ({
  conversation_id: 'room',
  event: { ...typing(user_id, 0, root_id) },
})

afterEach(() => void vi.restoreAllMocks())

it('ends with a post of the user in the conversation, in each thread, and for each kind of stream', () => {
  const typings = createTypings(() => NOW)
  typings.note(typing('ada'))
  typings.note(typing('ada', 6, 'root'))
  typings.note(typing('grace'))
  const mine = post({ author_user_id: 'ada' })
  const expires_at = toInstant(NOW + 1 - SECOND)
  const ends = [end('ada'), end('ada', 'root')].map(({ event, ...each }) => ({
    ...each,
    event: { ...event, payload: { ...event.payload, expires_at } },
  }))
  for (const _ of ['of the conversation', 'of all']) expect(typings.withEnds([mine])).toEqual([mine, ...ends])
})

it.each([
  ['of another user', [post({ author_user_id: 'grace' })]],
  ['in another conversation', [post({ author_user_id: 'ada' }, 'another')]],
  ['of a part of the host', [post({})]],
])('is not ended by a post %s', (_, events) => {
  const typings = createTypings(() => NOW)
  typings.note(typing('ada'))
  expect(typings.withEnds(events)).toBe(events)
})

it('has no end when it has ended by itself or was cleared', () => {
  const typings = createTypings(() => NOW)
  typings.note(typing('ada', -1))
  typings.note(typing('grace'))
  typings.note(typing('grace', -1))
  for (const author_user_id of ['ada', 'grace']) expect(typings.withEnds([post({ author_user_id })])).toHaveLength(1)
})

it('forgets the threads in which it has ended by itself', () => {
  let now = NOW
  const typings = createTypings(() => now)
  typings.note(typing('ada', 6, 'first'))
  now += 7 * SECOND
  typings.note(typing('ada', 60, 'second'))
  // A clock that steps back shows what is still kept.
  now = NOW
  expect(typings.withEnds([post({ author_user_id: 'ada' })])).toHaveLength(2)
})

it('ends with a question to the assistant', () => {
  const typings = createTypings(() => NOW)
  typings.note(typing('ada'))
  expect(typings.withEnds([post({ requested_by: 'ada' })])).toHaveLength(2)
})

it('of another process is outdated by a post that was delivered just before', () => {
  let late = 0
  const at = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => at + late)
  const typings = createTypings(() => NOW)
  const passed = (user_id: string, began = NOW) =>
    typings.isCurrent({ conversation_id: 'room', event: typing(user_id), at: began })
  expect(passed('ada')).toBe(true)
  typings.withEnds([post({ author_user_id: 'ada' })])
  expect([passed('ada'), passed('grace')]).toEqual([false, true])
  // Typing that began after the post, and that of a process of an earlier version.
  expect(passed('ada', NOW + 2)).toBe(true)
  expect(typings.isCurrent({ conversation_id: 'room', event: typing('ada') })).toBe(true)
  late = 1_000
  expect(passed('ada')).toBe(true)
})

describeOnEachDatabase('typing of a user', (openUrl) => {
  const closings: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closings.splice(0).reverse()) await close()
  })

  it('ends on the streams of each node with a post on any', async () => {
    const url = await openUrl()
    const nodes: TestService[] = []
    for (let i = 0; i < 2; i++) {
      const node = await startService(url)
      closings.push(() => node.close())
      nodes.push(node)
    }
    // What one alone announces is passed on to none.
    for (const { chat } of nodes) await expect.poll(innerState(chat).cluster.countNodes).toBe(2)
    const [ada, grace] = [await nodes[0]!.signIn('ada'), await nodes[0]!.signIn('grace')]
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const streams: TestStream[] = []
    for (const { base_url } of nodes)
      for (const id of [conversation_id, undefined]) {
        const stream = await openStream(base_url, id, await signInByHand(base_url, grace.email, PASSWORD))
        closings.push(() => stream.close())
        await stream.until('stream.ready')
        streams.push(stream)
      }
    await ada.presence.setTyping({ conversation_id, seconds: 10 })
    for (const stream of streams) await stream.until('typing.update')
    // Of the other node than the one that was told of it.
    const actor = await nodes[1]!.chat.users.actor(ada.id)
    await nodes[1]!.chat.messages.postRoot(actor, conversation_id, { content: 'Done.' })
    for (const stream of streams) {
      const seen = await stream.until('typing.update')
      const posted = seen.find(({ event }) => event.type === 'message.new')!.event
      const { created_at } = (posted.payload as { message: Message }).message
      const { payload } = seen.at(-1)!.event as { payload: { user_id: string; expires_at: string } }
      expect(payload).toMatchObject({ conversation_id, user_id: ada.id })
      expect(payload.expires_at < created_at).toBe(true)
    }
  })
})
