import type { Context } from '../../context.ts'
import { HOUR } from '../../core/units.ts'
import type { Place } from '../../live/feed/feed-order.ts'
import { parseEventId } from '../../live/log/event-ids.ts'
import type { Sql } from '../../storage/sql.ts'
import { findUnsettled, isNeededRow } from './store-sending.ts'

/**
 * The condition that the line `e` of the log is needed: a webhook has not come to it, or gets it again later. A line that is
 * older than `webhooks.keep_hours` is needed no more.
 *
 * @returns `undefined` if none is needed
 */
export async function findNeeded({
  config,
  db,
  streams,
  clock,
}: Pick<Context, 'config' | 'db' | 'streams' | 'clock'>): Promise<Sql | undefined> {
  if (!config.webhooks.enabled) return undefined
  const { feed } = streams.hub
  const { positions, first_number } = await findUnsettled(db)
  if (positions.length === 0) return undefined
  const epoch = await feed.epoch()
  const places = positions.flatMap((position): Place[] => {
    const { epoch: history, place } = parseEventId(position, feed.parse)
    return place !== undefined && history === epoch ? [place] : []
  })
  const [first, ...others] = places
  const isSettled = first === undefined ? undefined : feed.isUpTo(feed.earliest([first, ...others]))
  return isNeededRow({ isSettled, first_number, oldest: clock.before(config.webhooks.keep_hours * HOUR) })
}
