import { expect, it } from 'vitest'
import type { Message } from '../../lib/chat/messages/schema.ts'
import { type Delivered, withActivities } from '../../lib/live/readers/delivery.ts'

/** A message of a thread, at a minute of a day. */
function posted(seq: number, root_id: string, parent_id?: string): Delivered {
  const message = {
    id: `m${seq}`,
    conversation_id: 'c',
    root_id,
    ...(parent_id && { parent_id }),
    created_at: at(seq),
  } as Message
  return { seq, id: `e.${seq}`, at: seq, conversation_id: 'c', event: { type: 'message.new', payload: { message } } }
}

function activity(root_id: string, seq: number): Delivered {
  const payload = { root_id, last_activity_at: at(seq) }
  return { conversation_id: 'c', event: { type: 'thread.activity', payload } }
}

const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`

it('puts the activity of each thread behind its latest reply', () => {
  const [first, other, last] = [posted(1, 'a', 'a'), posted(2, 'b', 'm7'), posted(3, 'a', 'm1')]
  expect(withActivities([first, other, last])).toEqual([first, other, activity('b', 2), last, activity('a', 3)])
})

it('adds nothing to a new thread, and to other events', () => {
  const payload = { conversation_id: 'c', user_id: 'u', role: 'viewer', action: 'added' } as const
  const events: Delivered[] = [posted(1, 'a'), { id: 'e.2', event: { type: 'membership.changed', payload } }]
  expect(withActivities(events)).toEqual(events)
})
