import { describe, expect, it } from 'vitest'
import { type Choice, choicesFor, variantsOf } from '../../../examples/web-chat/src/stream/variants.ts'
import type { TimelineStoreMessage } from '../../../lib/client/store/index.ts'

const message = (id: string, more: Partial<TimelineStoreMessage> = {}) => ({ id, ...more }) as TimelineStoreMessage
const shownOf = (messages: TimelineStoreMessage[], chosen: [string, Choice][] = []) =>
  variantsOf(messages, new Map(chosen)).shown.map(({ id }) => id)
const THE_FIRST: [string, Choice][] = [['b', { id: 'b', newest: 'b2' }]]

describe('the variants of an answer', () => {
  const talk = [
    message('a'),
    message('b', { parent_id: 'a' }),
    message('c', { parent_id: 'b' }),
    message('b2', { parent_id: 'a', variant_of: 'b' }),
    message('d', { parent_id: 'b2' }),
  ]

  it('are one row in the place of the first, the newest one, with what follows it', () => {
    expect(shownOf(talk)).toEqual(['a', 'b2', 'd'])
    expect(shownOf(talk, THE_FIRST)).toEqual(['a', 'b', 'c'])
    expect(variantsOf(talk, new Map()).places).toEqual(new Map([['b2', { first: 'b', ids: ['b', 'b2'] }]]))
  })

  it('are shown by choice, until another one arrives, or for a message below one', () => {
    const more = [...talk, message('b3', { parent_id: 'a', variant_of: 'b2' })]
    expect(shownOf(more, THE_FIRST)).toEqual(['a', 'b3'])
    expect(shownOf(more, choicesFor(more, 'nowhere'))).toEqual(['a', 'b3'])
    expect(shownOf(talk, choicesFor(talk, 'c'))).toEqual(['a', 'b', 'c'])
  })

  it('stand for themselves until the first one is loaded', () => {
    expect(shownOf(talk.slice(2))).toEqual(['c', 'b2', 'd'])
  })

  it('leave out deleted ones, and one alone has no place among others', () => {
    const deleted = talk.map((each) => (each.id === 'b2' ? { ...each, deleted_at: '2026-01-01T00:00:00Z' } : each))
    expect(shownOf(deleted)).toEqual(['a', 'b', 'c'])
    expect(variantsOf(deleted, new Map()).places.size).toBe(0)
    const all = deleted.map((each) => (each.id === 'b' ? { ...each, deleted_at: '2026-01-01T00:00:00Z' } : each))
    expect(shownOf(all)).toEqual(['a', 'b', 'c'])
  })

  it('below a variant that is not shown are not shown either', () => {
    const deep = [
      ...talk,
      message('c2', { parent_id: 'b', variant_of: 'c' }),
      message('e', { parent_id: 'c2' }),
      message('f', { parent_id: 'd' }),
    ]
    expect(shownOf(deep)).toEqual(['a', 'b2', 'd', 'f'])
    expect(shownOf(deep, THE_FIRST)).toEqual(['a', 'b', 'c2', 'e'])
  })

  it('of roots stand in the place of the first root, and other messages stay the same list', () => {
    expect(shownOf([message('a'), message('b'), message('a2', { variant_of: 'a' })])).toEqual(['a2', 'b'])
    const plain = [message('a'), message('b')]
    expect(variantsOf(plain, new Map()).shown).toBe(plain)
  })
})
