import { expect, it } from 'vitest'
import { createOutbox, type Signal } from '../../lib/cluster/signals.ts'

it('sends users again whose signal could not be stored, and no ephemeral events', async () => {
  const sent: Signal[] = []
  let isFailing = true
  const outbox = createOutbox({
    gather_ms: 60_000,
    onDropped: () => {},
    send: async ({ body }) => {
      if (!isFailing) sent.push(JSON.parse(body))
      return !isFailing
    },
  })
  const payload = { conversation_id: 'c', user_id: 'u', expires_at: '2026-01-01T00:00:00.000Z' }
  outbox.addEvents([{ conversation_id: 'c', event: { type: 'typing.update', payload } }])
  outbox.addUsers(['a', 'b'])
  await outbox.flush()
  isFailing = false
  outbox.addUsers(['c'])
  await outbox.flush()
  await outbox.close()
  expect(sent).toEqual([{ events: [], user_ids: ['c', 'a', 'b'].sort() }])
})
