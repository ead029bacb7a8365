import { expect, it } from 'vitest'
import type { Calls, SendingContext } from '../../../lib/integrations/webhooks/calls.ts'
import { createHeld, endEntry, type Held } from '../../../lib/integrations/webhooks/held.ts'
import { createSender } from '../../../lib/integrations/webhooks/sender.ts'
import type { FeedRow, Place } from '../../../lib/live/feed/feed-order.ts'
import { times } from '../../support/service.ts'

const rowOf = (id: number, type: string) => ({ id, type, conversation_id: 'a', for_user_id: null }) as FeedRow

/** A webhook for new messages, and what it is sent of these rows, by a sender of its own. */
function begin(rows: FeedRow[], state: { fails: boolean }, changes: object = {}) {
  const seen = { sent: [] as number[], most: 0, reads: 0, warnings: 0 }
  const feed = {
    async news(place: number, limit: number) {
      if (state.fails) throw new Error('The storage is away')
      seen.reads++
      const news = rows.filter(({ id }) => id > place).slice(0, limit)
      const isLast = news.length < limit
      return { rows: news.map((row) => [row, row.id]), place: news.at(-1)?.id ?? place, isLast, isEarly: false }
    },
    includes: (place: number, row: FeedRow) => row.id <= place,
    format: String,
  }
  const log = { warn: () => void seen.warnings++ }
  const ctx = { streams: { hub: { feed } }, log, now: () => 1, db: {} } as unknown as SendingContext
  const webhook = {
    event_order: 'none',
    parallel: 16,
    last_failed: 0,
    last_success_at: 1,
    gap: null,
    paused_until: null,
  }
  const held = createHeld({
    webhook: { ...webhook, ...changes },
    known: { route: { id: 'w', user_id: null, types: new Set(['message.new']), conversation_id: null }, untrimmed: 0 },
    parked: new Map(),
    ahead: [],
    place: 0 as Place,
    used_at: 0,
  } as unknown as Parameters<typeof createHeld>[0])
  held.has_due = false
  const calls = {
    begin: async (_: unknown, turns: { entry?: Held['entries'][number] }[]) => {
      seen.most = Math.max(seen.most, held.entries.length)
      for (const entry of turns.flatMap(({ entry }) => entry ?? [])) {
        seen.sent.push(entry.row.id)
        endEntry(held, entry)
      }
    },
  } as unknown as Calls
  const sender = createSender(ctx, { calls, isOver: () => false })
  return {
    held,
    seen,
    async wake() {
      sender.wake(held, { epoch: 'e', histories: [] })
      while (sender.isRunning(held)) await new Promise(setImmediate)
    },
  }
}

it('reads again what could not be read, though it is told of later news only', async () => {
  const state = { fails: true }
  const rows = [1, 2, 3].map((id) => rowOf(id, 'message.new'))
  const { held, seen, wake } = begin(rows, state)
  held.skip_to = 1
  await wake()
  expect({ ...seen, is_behind: held.is_behind }).toMatchObject({ sent: [], warnings: 1, is_behind: true })
  // News at a later place, which only a webhook that is not behind may begin at.
  state.fails = false
  if (!held.is_behind) held.skip_to = 2
  await wake()
  expect(seen.sent).toEqual([2, 3])
})

it('reads a long log in few steps for a webhook that has had no success, and keeps few events of it', async () => {
  const rows = times(10_000, (n) => rowOf(n + 1, n > 9_000 || n % 2_000 === 0 ? 'message.new' : 'message.edited'))
  const { held, seen, wake } = begin(rows, { fails: false }, { last_success_at: null })
  await wake()
  expect(seen.sent).toEqual(rows.flatMap(({ id, type }) => (type === 'message.new' ? id : [])))
  expect(seen.most).toBeLessThan(32)
  // A page in each step, and one for each 16 events where they are many.
  expect(seen.reads).toBeLessThan(10_000 / 512 + 1_004 / 16 + 2)
  expect(held.is_behind).toBe(false)
})
