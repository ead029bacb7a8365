import { expect, it } from 'vitest'
import { createSearchSlots } from '../../../lib/chat/search/slots.ts'
import { times } from '../../support/service.ts'

const SOON = () => performance.now() + 60_000

it('lets a caller have its share of the turns, and others begin though one of its searches waits longer', async () => {
  const { acquire: take } = createSearchSlots(4, 2)
  const began: string[] = []
  async function ask(caller: string) {
    const end = await take(caller, SOON())
    began.push(caller)
    return end!
  }
  const first = await ask('ada')
  await ask('ada')
  const third = ask('ada')
  await ask('grace')
  expect(began).toEqual(['ada', 'ada', 'grace'])
  first()
  await third
  expect(began).toEqual(['ada', 'ada', 'grace', 'ada'])
})

it('gives a free turn to the caller that has waited longest and does not have its share', async () => {
  const { acquire: take } = createSearchSlots(2, 1)
  const ada = (await take('ada', SOON()))!
  const grace = (await take('grace', SOON()))!
  const began: string[] = []
  const waiting = ['ada', 'grace', 'alan'].map((caller) => take(caller, SOON()).then(() => began.push(caller)))
  grace()
  await waiting[1]
  expect(began).toEqual(['grace'])
  ada()
  await waiting[0]
  expect(began).toEqual(['grace', 'ada'])
})

it('gives no turn after the deadline, nor to the callers beyond those that may wait', async () => {
  const { acquire: take } = createSearchSlots(1, 1)
  const end = (await take('ada', SOON()))!
  expect(await take('grace', performance.now() + 1)).toBeUndefined()
  const own = times(20, () => take('ada', SOON()))
  expect(await take('ada', SOON())).toBeUndefined()
  const others = times(80, (n) => take(`user-${n}`, SOON()))
  expect(await take('grace', SOON())).toBeUndefined()
  end()
  for (const turn of [...own, ...others]) (await turn)!()
  expect(await take('grace', SOON())).toBeDefined()
})
