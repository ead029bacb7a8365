import { expect, it } from 'vitest'
import { canOf } from '../../../lib/client/store/parts.ts'
import { isReady, startThread, waitForView } from './world.ts'

it('what the user may do follows roles and policies, and nothing else asks for it', async () => {
  const { ada, grace, actor, store, conversation_id, network } = await startThread({ users: ['ada', 'grace'] })
  const { conversation, service: everywhere } = canOf(store)
  const here = conversation(conversation_id)
  const stops = [here, everywhere].map((part) => part.subscribe(() => {}))
  expect((await waitForView(here, isReady)).can).toEqual((await ada.conversations.get(conversation_id)).can)
  expect((await waitForView(everywhere, isReady)).can).toEqual((await ada.auth.me()).can)
  await waitForView(store.connection, ({ status }) => status === 'online')
  network.calls.length = 0
  await grace.conversations.rename(conversation_id, { policy: { post: 'nobody', pin: 'everyone' } })
  await waitForView(here, ({ can }) => !can?.includes('post'))
  await grace.participants.changeRole(conversation_id, actor('ada').user_id, { role: 'viewer' })
  await waitForView(here, ({ can }) => can?.join() === 'pin')
  expect(network.calls.filter((call) => call === 'GET /api/auth/me')).toEqual([])
  for (const stop of stops) stop()
})
