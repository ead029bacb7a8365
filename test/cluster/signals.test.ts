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

it('passes events about the inboxes of many users on in several signals, and an event that is too long holds up none', async () => {
  const sent: Signal[] = []
  let dropped = 0
  const outbox = createOutbox({
    gather_ms: 60_000,
    onDropped: (count) => {
      dropped += count
    },
    send: async ({ body }) => Boolean(sent.push(JSON.parse(body))),
  })
  /** For users whose ids fill so many characters. */
  const count = (characters: number) => ({
    conversation_id: '',
    user_ids: ['u'.repeat(characters)],
    event: { type: 'notifications.count' as const, payload: { unread: sent.length } },
  })
  outbox.addEvents([count(300_000), ...Array.from({ length: 12 }, (_, n) => count(30_000 + n))])
  await outbox.flush()
  expect(sent.map(({ events }) => events.length)).toEqual([8, 4])
  expect(dropped).toBe(1)
  outbox.addEvents(Array.from({ length: 6 }, (_, n) => count(200_000 + n)))
  await outbox.flush()
  await outbox.close()
  expect([sent.length, dropped]).toEqual([6, 3])
})

it('counts the bytes of a signal, not its letters', async () => {
  const sizes: number[] = []
  const outbox = createOutbox({
    gather_ms: 60_000,
    onDropped: () => {},
    send: async ({ body }) => Boolean(sizes.push(Buffer.byteLength(body))),
  })
  const about = (n: number) => ({
    conversation_id: '',
    user_ids: ['я'.repeat(60_000)],
    event: { type: 'notifications.count' as const, payload: { unread: n } },
  })
  outbox.addEvents([about(1), about(2), about(3)])
  await outbox.flush()
  await outbox.close()
  expect(sizes).toHaveLength(2)
  for (const size of sizes) expect(size).toBeLessThan(260 * 1024)
})
