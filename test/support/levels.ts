import { NO_POOL } from '../../lib/metrics/database.ts'
import type { Levels } from '../../lib/metrics/registry.ts'

/** The levels of a page whose gauges cannot be read. */
export const NO_LEVELS: Levels = {
  ...{ streams: 0, feed_waiting: 0, answers: 0, log_lines_dropped: 0, nodes: 1 },
  ...{ tasks: undefined, backups: undefined, search_waiting: undefined },
  webhooks: { parked: 0, lag_seconds: 0 },
  database: { sizes: undefined, rows: undefined, files: undefined, webhooks: undefined, pool: NO_POOL },
}
