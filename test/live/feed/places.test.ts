import { expect, it } from 'vitest'
import type { Context } from '../../../lib/context.ts'
import { earlierOf } from '../../../lib/integrations/webhooks/place.ts'
import type { FeedRow } from '../../../lib/live/feed/feed-order.ts'
import { postgresOrder } from '../../../lib/live/feed/postgres-order.ts'
import { eventId } from '../../../lib/live/log/event-ids.ts'
import type { Snapshot } from '../../../lib/live/log/snapshots.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { times } from '../../support/service.ts'

const feed = postgresOrder({} as Database)
type Placed = ReturnType<typeof feed.earliest>

const SNAPSHOTS: Snapshot[] = [1, 2, 3].flatMap((xmax) =>
  [[], [0], [1], [0, 1], [2]]
    .filter((unfinished) => unfinished.every((xid) => xid < xmax))
    .map((unfinished) => ({ xmax, unfinished })),
)
const PLACES: Placed[] = SNAPSHOTS.flatMap((seen) => [
  { seen },
  ...SNAPSHOTS.filter(({ xmax }) => xmax >= seen.xmax).flatMap((sees) =>
    [2, 5].map((id) => ({ seen, next: { sees, id } })),
  ),
])
/** Transactions write in any order. */
const ROWS = times(12, (n) => ({ id: (n * 5) % 12, xid: n % 4 }) as FeedRow)

it('no row is up to a place, and not up to one that has all of it', () => {
  let count = 0
  for (const place of PLACES)
    for (const other of PLACES.filter((each) => feed.isWithin(place, each))) {
      count++
      const missed = ROWS.filter((row) => feed.includes(place, row) && !feed.includes(other, row))
      expect({ place, other, missed }).toEqual({ place, other, missed: [] })
    }
  expect(count).toBeGreaterThan(PLACES.length)
})

it.each<[string, Placed, Placed]>([
  [
    'of the same page',
    { seen: at(10), next: { sees: at(14), id: 2 } },
    { seen: at(10), next: { sees: at(14), id: 4 } },
  ],
  [
    'of an earlier page',
    { seen: at(10), next: { sees: at(14), id: 2 } },
    { seen: at(14), next: { sees: at(16), id: 4 } },
  ],
  ['before a transaction that still runs', { seen: at(10), next: { sees: at(14, 12), id: 2 } }, { seen: at(16, 12) }],
])('a position %s is that to go back to, and none before it', (_, earlier, later) => {
  const ctx = { streams: { hub: { feed } } } as unknown as Context
  const [first, second] = [earlier, later].map((place) => eventId('aaaaaaaaaaaaaaaa', feed.format(place)))
  expect(earlierOf(ctx, first!, second!)).toBe(first)
  expect(earlierOf(ctx, second!, first!)).toBe(first)
})

it('two places of which each has what the other has not lead to one before both', () => {
  const ctx = { streams: { hub: { feed } } } as unknown as Context
  const [first, second] = [at(14, 12), at(16, 11)].map((seen) => eventId('aaaaaaaaaaaaaaaa', feed.format({ seen })))
  expect(earlierOf(ctx, first!, second!)).toBe(eventId('aaaaaaaaaaaaaaaa', feed.format({ seen: at(11) })))
})

function at(xmax: number, ...unfinished: number[]): Snapshot {
  return { xmax, unfinished }
}
