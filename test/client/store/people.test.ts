import { expect, it, onTestFinished } from 'vitest'
import { peopleOf } from '../../../lib/client/store/parts.ts'
import { isReady, startThread, waitForView } from './world.ts'

const reads = (calls: string[]) => calls.filter((call) => call === 'GET /api/users').length

it('has the users whom the reader may see, read together, and follows their names', async () => {
  const { store, network, grace, actor } = await startThread()
  const people = peopleOf(store)
  const [ada, other, gone] = [actor('ada').user_id, actor('grace').user_id, '01890000-0000-7000-8000-000000000000']
  const parts = [ada, other, gone, ''].map((id) => people.user(id))
  for (const part of parts) onTestFinished(part.subscribe(() => {}))
  const views = await Promise.all(parts.map((part) => waitForView(part, isReady)))
  expect(views.map(({ user }) => user?.username)).toEqual(['ada', 'grace', undefined, undefined])
  expect(reads(network.calls)).toBe(1)
  await grace.auth.changeProfile({ display_name: 'Grace Hopper' })
  expect((await waitForView(parts[1]!, ({ user }) => !!user?.display_name)).user?.display_name).toBe('Grace Hopper')
  expect(reads(network.calls)).toBe(1)
  expect(peopleOf(store).user(other)).toBe(parts[1])
})

it('reads any number of them by a hundred a request, and again after a pause', async () => {
  const { store, network } = await startThread()
  const people = peopleOf(store)
  const stops = Array.from({ length: 150 }, (_, n) => people.user(`${n}`).subscribe(() => {}))
  await waitForView(people.user('149'), isReady)
  expect(reads(network.calls)).toBe(2)
  network.cut()
  await waitForView(store.connection, ({ status }) => status === 'offline')
  await waitForView(store.connection, ({ status }) => status === 'online')
  await expect.poll(() => reads(network.calls)).toBeGreaterThanOrEqual(4)
  for (const stop of stops) stop()
})
