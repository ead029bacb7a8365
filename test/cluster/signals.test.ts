import fc from 'fast-check'
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

it('passes each mark of a conversation on, and the latest counts of a thread', async () => {
  const sent: Signal[] = []
  const outbox = createOutbox({
    gather_ms: 60_000,
    onDropped: () => {},
    send: async ({ body }) => Boolean(sent.push(JSON.parse(body))),
  })
  const place = { conversation_id: 'c', user_id: 'ada' }
  const mark = (change: 'all_read' | 'roots_read' | 'roots_unread', at: string) => {
    const payload = { conversation_id: 'c', change, at, unread: 0, unread_replies: 0, as_of: at }
    return { ...place, event: { type: 'conversation.unread' as const, payload } }
  }
  const counts = (unread: number) => {
    const payload = { conversation_id: 'c', root_id: 'r', unread, unread_replies: 0, conversation_unread: 0, as_of: '' }
    return { ...place, event: { type: 'unread.update' as const, payload } }
  }
  const marks = [mark('roots_read', '9'), mark('all_read', '5'), mark('roots_unread', '7'), mark('roots_read', '8')]
  outbox.addEvents([...marks.slice(0, 2), counts(1), counts(2), ...marks.slice(2)])
  await outbox.flush()
  await outbox.close()
  expect(sent.flatMap(({ events }) => events)).toEqual([...marks.slice(0, 2), counts(2), ...marks.slice(2)])
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

it('sends the latest event of each subject once and in order, or counts it as dropped, whatever their sizes', async () => {
  const KIB = 1_024
  const given = fc.array(
    fc.record({
      subject: fc.nat({ max: 30 }),
      kib: fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 280 }), fc.constantFrom(250, 254, 255, 256)),
    }),
    { maxLength: 40 },
  )
  const run = async (events: { subject: number; kib: number }[]) => {
    const sent: { n: number; subject: string }[] = []
    let dropped = 0
    let signals = 0
    const outbox = createOutbox({
      gather_ms: 60_000,
      onDropped: (count) => {
        dropped += count
      },
      async send({ body, count }) {
        expect(Buffer.byteLength(body)).toBeLessThan(257 * KIB)
        const signal = JSON.parse(body) as Signal
        expect(signal.events).toHaveLength(count)
        for (const { conversation_id, event } of signal.events)
          sent.push({ n: (event.payload as object as { n: number }).n, subject: conversation_id })
        signals++
        return true
      },
    })
    for (const [n, { subject, kib }] of events.entries()) {
      const event = { type: 'typing.update' as const, payload: { n, text: 'x'.repeat(kib * KIB) } as never }
      outbox.addEvents([{ conversation_id: `${subject}`, event }])
    }
    await outbox.flush()
    await outbox.close()
    const latest = new Map(events.map(({ subject }, n) => [`${subject}`, n]))
    expect(signals).toBeLessThanOrEqual(4)
    expect(sent.length + dropped).toBe(latest.size)
    for (const { n, subject } of sent) expect(latest.get(subject)).toBe(n)
    expect(sent.map(({ n }) => n)).toEqual(sent.map(({ n }) => n).sort((a, b) => a - b))
  }
  await fc.assert(fc.asyncProperty(given, run), { numRuns: 40, seed: 1 })
})
