import type { Metrics } from '../../metrics/registry.ts'
import type { Micros } from '../../storage/sql.ts'
import type { EventRow } from '../log/log.ts'

/** When and where the first event of a delivery was committed. */
export interface Origin {
  /** Its time. */
  at: Micros
  /** When this process had committed it, by `performance.now()`; `undefined` for an event of another process. */
  since: number | undefined
}

/** Measures the time from a commit until now, when its events are delivered. */
export type Measure = (origin: Origin) => void

/** @param deps.now the clock of this process: events of another one are measured from the time that its clock gave them */
export function createMeasure({ metrics, now }: { metrics: Metrics; now: () => Micros }): Measure {
  return ({ at, since }) => {
    if (since !== undefined) metrics.lagged('own', (performance.now() - since) / 1000)
    else metrics.lagged('other', Math.max(0, now() - at) / 1_000_000)
  }
}

/** More commits than this are not distinguished from those of other processes: all found rows then count as own. */
const MAX_COMMITS = 256

/**
 * Keeps which rows this process has committed, to distinguish them from those of other processes that a read finds as
 * well.
 */
export function createLatestCommits() {
  let since: number | undefined
  let commits: EventRow[][] = []
  return {
    /** @param rows none: they are not known */
    add(rows: EventRow[]): void {
      since ??= performance.now()
      if (commits.length < MAX_COMMITS) commits.push(rows)
      else commits = [[]]
    },

    /** Forgets what was added. @returns a function that finds the origin of a row by it */
    take(): (row: EventRow) => Origin {
      const [begun, added] = [since, commits]
      since = undefined
      commits = []
      return (row) => {
        const isOwn = added.some((rows) => rows.length === 0 || rows.some((commit) => isSame(commit, row)))
        return { at: row.created_at, since: isOwn ? begun : undefined }
      }
    },
  }
}

function isSame(one: EventRow, other: EventRow): boolean {
  return one.seq === other.seq && one.conversation_id === other.conversation_id
}
