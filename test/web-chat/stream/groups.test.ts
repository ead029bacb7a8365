import { describe, expect, it } from 'vitest'
import { daysOf } from '../../../examples/web-chat/src/stream/groups.ts'
import type { TimelineStoreMessage } from '../../../lib/client/store/index.ts'

const at = (minutes: number) => new Date(2026, 4, 30, 23, 40 + minutes).toISOString()

const message = (id: string, minutes: number, author_user_id = 'ada', more = {}) =>
  ({ id, author_user_id, role: 'user', created_at: at(minutes), ...more }) as TimelineStoreMessage

const headsOf = (messages: TimelineStoreMessage[], first_new?: string) =>
  daysOf(messages, first_new).flatMap(({ rows }) => rows.filter(({ isHead }) => isHead).map((row) => row.message.id))

describe('messages in groups', () => {
  it('are one group while an author writes within five minutes of its first one', () => {
    const lines = [message('a', 0), message('b', 4), message('c', 6), message('d', 7, 'grace'), message('e', 8)]
    expect(headsOf(lines)).toEqual(['a', 'c', 'd', 'e'])
  })

  it('begin anew below the line of what is new, and at each answer of the assistant', () => {
    const answer = { role: 'assistant', author_user_id: undefined }
    const lines = [message('a', 0), message('b', 1), message('c', 2, '', answer), message('d', 3, '', answer)]
    expect(headsOf(lines, 'b')).toEqual(['a', 'b', 'c', 'd'])
  })

  it('begin anew where text of a model begins or ends, which has a label', () => {
    const lines = [message('a', 0), message('b', 1, 'ada', { generated: true }), message('c', 2)]
    expect(headsOf(lines)).toEqual(['a', 'b', 'c'])
  })

  it('do not go on over midnight, where another day begins', () => {
    const days = daysOf([message('a', 18), message('b', 21)], undefined)
    expect(days.map(({ rows }) => rows.map((row) => [row.message.id, row.isHead]))).toEqual([
      [['a', true]],
      [['b', true]],
    ])
    expect(days[0]!.key).not.toBe(days[1]!.key)
  })
})
