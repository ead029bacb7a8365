import type { Config } from '../../config/parse.ts'
import type { UsedTokens } from '../../context.ts'
import type { Change, Commit } from '../../live/transaction/commits.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Writing } from '../../storage/database.ts'
import { insertTask } from '../../tasks/store.ts'
import { meterTask } from './meter.ts'
import { type Hosted, modelOf } from './models.ts'
import { costOf, periodOf } from './rules.ts'
import { addToTotals, type EntryRow, insertEntry } from './store.ts'

/** Stores what answers have used with their ends, and counts it when it is durable. */
export function createMetering({
  config,
  metrics,
  hosted = {},
  isMetered = false,
  id,
}: {
  config: Config
  /** Whether the host takes entries. */
  isMetered?: boolean
  id: () => string
  metrics: Pick<Metrics, 'used' | 'spent'>
  hosted?: Hosted | undefined
}) {
  const usedIn = ({ additions }: Pick<Change, 'additions'>) =>
    additions.flatMap(({ events }) => events.flatMap(({ used }) => used ?? []))
  return {
    store(tx: Writing, change: Pick<Change, 'additions'>): void {
      for (const used of usedIn(change)) {
        const entry = toEntry(config, hosted, used)
        tx.defer(insertEntry(tx, entry))
        if (isMetered) tx.defer(insertTask(tx, id(), meterTask(entry)))
        tx.defer(addToTotals(tx, entry, { day: periodOf('day', entry.at), month: periodOf('month', entry.at) }))
      }
    },

    committed(commit: Pick<Commit, 'additions'>): void {
      for (const used of usedIn(commit)) {
        metrics.used('prompt', used.prompt_tokens)
        metrics.used('completion', used.completion_tokens)
        metrics.spent(toEntry(config, hosted, used).cost_micros)
      }
    },
  }
}

/** The entry of what was used, with what it costs now. */
function toEntry(config: Config, hosted: Hosted, { estimated, ...used }: UsedTokens): EntryRow {
  const { model, price } = modelOf(config, used.assistant, hosted)
  return { ...used, model, cost_micros: costOf(used, price), estimated: estimated ? 1 : 0 }
}
