import { expect, it } from 'vitest'
import { quotaOf, typedOf } from '../../examples/web-chat/src/administration/quota-of.ts'

it.each([
  ['nothing', {}, {}],
  ['empty fields', { 'day.answers': '', 'month.tokens': '' }, {}],
  ['a limit of none', { 'day.answers': '0' }, { day: { answers: 0 } }],
  [
    'limits of both periods',
    { 'day.answers': '5', 'day.tokens': '1000', 'month.cost_micros': '2.5' },
    { day: { answers: 5, tokens: 1000 }, month: { cost_micros: 2_500_000 } },
  ],
  ['a cost that no binary fraction is', { 'day.cost_micros': '0.29' }, { day: { cost_micros: 290_000 } }],
])('the quota of %s is read from a form', (_, fields, quota) => {
  expect(quotaOf(fields as Record<string, string>)).toEqual(quota)
})

it('a limit is typed as it is read', () => {
  expect([typedOf('tokens', undefined), typedOf('tokens', 0), typedOf('cost_micros', 290_000)]).toEqual([
    '',
    '0',
    '0.29',
  ])
  expect(quotaOf({ 'day.cost_micros': typedOf('cost_micros', 1) })).toEqual({ day: { cost_micros: 1 } })
})
