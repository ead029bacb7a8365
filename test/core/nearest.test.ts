import { expect, it } from 'vitest'
import { didYouMean } from '../../lib/core/nearest.ts'

it.each([
  ['prot', 'port'],
  ['titel', 'title'],
  ['beforeMesage', 'beforeMessage'],
  ['lst', 'list'],
  ['lastEventId', 'last_event_id'],
  ['Port', 'port'],
  ['url', undefined],
])('%s is taken for %s', (typed, name) => {
  const names = ['port', 'title', 'beforeMessage', 'list', 'last_event_id']
  expect(didYouMean(typed, names)).toBe(name === undefined ? '' : `, did you mean "${name}"?`)
})
