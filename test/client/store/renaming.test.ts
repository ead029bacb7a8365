import { expect, it, onTestFinished } from 'vitest'
import { peopleOf } from '../../../lib/client/store/parts.ts'
import { renamed } from '../../../lib/client/store/renaming.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { isReady, startThread, waitForView } from './world.ts'

it.each([
  [
    { author_user_id: 'a', at: 1 },
    { author_user_id: 'b', at: 1 },
  ],
  [
    { author_user_id: 'a', author_kind: 'guest', quote: { author_user_id: 'c', author_kind: 'guest' } },
    { author_user_id: 'b', quote: { author_user_id: 'c', author_kind: 'guest' } },
  ],
  [{ user_ids: ['a', 'b', 'c'] }, { user_ids: ['b', 'c'] }],
  [
    { a: 1, deep: [{ x: { y: 'a' } }] },
    { a: 1, deep: [{ x: { y: 'b' } }] },
  ],
])('puts one id for another wherever it is: %j', (data, expected) => {
  expect(renamed<unknown>(data, 'a', 'b')).toEqual(expected)
})

it('leaves data without the id as it is', () => {
  const data = { users: ['b'], map: new Map([['c', new Set(['d'])]]), none: null, date: new Date(0) }
  expect(renamed(data, 'a', 'b')).toBe(data)
})

it('shows the other user when two become one', async () => {
  const { store, chat, actor, root_id, conversation_id, grace } = await startThread()
  const from = actor('grace').user_id
  const { user } = await chat.users.create(OPERATOR, { username: 'hopper', email: 'hopper@example.org' })
  await grace.messages.reply(root_id, { content: 'It runs.' })
  const thread = store.thread(root_id)
  const person = peopleOf(store).user(from)
  for (const part of [thread, person]) onTestFinished(part.subscribe(() => {}))
  const authors = () => thread.getSnapshot().messages.map(({ author_user_id }) => author_user_id)
  await waitForView(thread, () => authors().includes(from))
  await waitForView(person, isReady)
  await chat.users.merge(OPERATOR, { from: { user_id: from }, into: { user_id: user.id } })
  await waitForView(thread, () => authors().includes(user.id) && !authors().includes(from))
  await waitForView(person, (view) => view.user?.id === user.id)
  expect(conversation_id).toBeDefined()
})
