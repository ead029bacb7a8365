import { expect, it } from 'vitest'
import { actorsOf, rowsOf, unreadOf } from '../../examples/web-chat/src/inbox/rows.ts'
import type { Notification } from '../../lib/client/index.ts'

/** `reply bob r1 m1`: of a thread, by Bob, at a message; with a `-` at its end it is read. */
function inbox(...lines: string[]): Notification[] {
  return lines.map((line, n) => {
    const [kind, actor_user_id, root_id, message_id = root_id] = line.replace(/ -$/, '').split(' ')
    const read = / -$/.test(line) && { read_at: 'now' }
    const place = kind !== 'system' && { actor_user_id, conversation_id: 'room', root_id, message_id }
    return { id: `n${n}`, kind, ...place, ...read } as Notification
  })
}

const keysOf = (...lines: string[]) => rowsOf(inbox(...lines)).map(({ key, items }) => `${key} ${items.length}`)

it.each<[string, string[], string[]]>([
  ['a row for a thread', ['reply bob r1 m1', 'mention ada r1 m2'], ['r1 2']],
  ['a row for each of two threads', ['reply bob r1 m1', 'reply bob r2 m2', 'reply ada r1 m3'], ['r1 2', 'r2 1']],
  ['one for the first messages of a room', ['mention bob r1', 'mention_all ada r2'], ['room 2']],
  ['one for replies beside one for the first message', ['mention bob r1 m1', 'mention bob r1'], ['r1 1', 'room 1']],
  ['one for each direct conversation', ['direct bob r1', 'direct ada r2'], ['n0 1', 'n1 1']],
  ['one for each room the user was added to', ['added bob', 'added ada'], ['n0 1', 'n1 1']],
  ['one for each that the service has made', ['system', 'system'], ['n0 1', 'n1 1']],
])('shows %s', (_, lines, rows) => {
  expect(keysOf(...lines)).toEqual(rows)
})

it('names each author once, the last one first, and knows what is not read', () => {
  const [row] = rowsOf(inbox('reply bob r1 m1', 'reply ada r1 m2 -', 'reply bob r1 m3', 'reply cy r1 m4'))
  expect(actorsOf(row!)).toEqual(['bob', 'ada', 'cy'])
  expect(unreadOf(row!).map(({ id }) => id)).toEqual(['n0', 'n2', 'n3'])
})
