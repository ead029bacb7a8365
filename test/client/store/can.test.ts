import { expect, it } from 'vitest'
import { canOf, peopleOf } from '../../../lib/client/store/parts.ts'
import { isReady, startThread, waitForView } from './world.ts'

it('what the user may do follows roles and policies, and nothing else asks for it', async () => {
  const { ada, grace, actor, store, conversation_id, network } = await startThread({ users: ['ada', 'grace'] })
  const { conversation, service: everywhere } = canOf(store)
  const here = conversation(conversation_id)
  const stops = [here, everywhere].map((part) => part.subscribe(() => {}))
  expect((await waitForView(here, isReady)).can).toEqual((await ada.conversations.get(conversation_id)).can)
  expect((await waitForView(everywhere, isReady)).can).toEqual((await ada.auth.me()).can)
  await waitForView(store.connection, ({ status }) => status === 'online')
  const person = peopleOf(store).user(actor('grace').user_id)
  stops.push(person.subscribe(() => {}))
  await waitForView(person, isReady)
  network.calls.length = 0
  await grace.conversations.rename(conversation_id, { policy: { post: 'nobody', pin: 'everyone' } })
  await waitForView(here, ({ can }) => !can?.includes('post'))
  await grace.participants.changeRole(conversation_id, actor('ada').user_id, { role: 'viewer' })
  await waitForView(here, ({ can }) => can?.join() === 'pin')
  network.calls.length = 0
  await grace.auth.changeProfile({ display_name: 'Grace' })
  await waitForView(person, ({ user }) => user?.display_name === 'Grace')
  expect(network.calls.filter((call) => /auth.me|conversations.[^/]+$/.test(call))).toEqual([])
  for (const stop of stops) stop()
})
