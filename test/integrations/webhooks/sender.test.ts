import { expect, it } from 'vitest'
import type { Calls, SendingContext } from '../../../lib/integrations/webhooks/calls.ts'
import { createHeld } from '../../../lib/integrations/webhooks/held.ts'
import { createSender } from '../../../lib/integrations/webhooks/sender.ts'
import type { FeedRow, Place } from '../../../lib/live/feed/feed-order.ts'

it('reads again what could not be read, though it is told of later news only', async () => {
  const rows = [1, 2, 3].map((id) => ({ id, type: 'message.new', conversation_id: 'a', for_user_id: null }) as FeedRow)
  const state = { fails: true, warnings: 0 }
  const feed = {
    async news(place: number) {
      if (state.fails) throw new Error('The storage is away')
      const news = rows.filter(({ id }) => id > place)
      return { rows: news.map((row) => [row, row.id]), place: news.at(-1)?.id ?? place, isLast: true, isEarly: false }
    },
    includes: (place: number, row: FeedRow) => row.id <= place,
    format: String,
  }
  const log = { warn: () => void state.warnings++ }
  const ctx = { streams: { hub: { feed } }, log, now: () => 1, db: {} } as unknown as SendingContext
  const sent: number[] = []
  const calls = {
    begin: async (_: unknown, turns: { entry?: { row: FeedRow } }[]) =>
      void sent.push(...turns.flatMap(({ entry }) => entry?.row.id ?? [])),
  } as unknown as Calls
  const held = createHeld({
    webhook: { event_order: 'none', parallel: 16, last_failed: 0, last_success_at: 1, gap: null, paused_until: null },
    route: { id: 'w', user_id: null, types: new Set(['message.new']), conversation_id: null },
    parked: new Map(),
    ahead: [],
    place: 0 as Place,
    used_at: 0,
  } as unknown as Parameters<typeof createHeld>[0])
  held.has_due = false
  held.skip_to = 1
  const sender = createSender(ctx, { calls, isOver: () => false })
  const history = { epoch: 'e', histories: [] }
  const wake = async () => {
    sender.wake(held, history)
    while (sender.isRunning(held)) await new Promise(setImmediate)
  }
  await wake()
  expect({ sent, warnings: state.warnings, is_behind: held.is_behind }).toEqual({
    sent: [],
    warnings: 1,
    is_behind: true,
  })
  // News at a later place, which only a webhook that is not behind may begin at.
  state.fails = false
  if (!held.is_behind) held.skip_to = 2
  await wake()
  expect(sent).toEqual([2, 3])
})
