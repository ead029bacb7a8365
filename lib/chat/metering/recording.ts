import type { UsedTokens } from '../../context.ts'
import type { Change, Commit } from '../../live/transaction/commits.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Writing } from '../../storage/database.ts'
import { insertTask } from '../../tasks/store.ts'
import { meterTask } from './meter.ts'
import { modelOf, type PricedContext } from './models.ts'
import { costOf, periodOf } from './rules.ts'
import { addToTotals, type EntryRow, insertEntry } from './store.ts'

/** Stores what answers have used with their ends, and counts it when it is durable. */
export function createMetering(
  ctx: PricedContext & {
    /** Whether the host takes entries. */
    isMetered: boolean
    id: () => string
    metrics: Pick<Metrics, 'used' | 'spent'>
  },
) {
  const { metrics, isMetered, id } = ctx
  const usedIn = ({ additions }: Pick<Change, 'additions'>) =>
    additions.flatMap(({ events }) => events.flatMap(({ used }) => used ?? []))
  return {
    store(tx: Writing, change: Pick<Change, 'additions'>): void {
      for (const used of usedIn(change)) {
        const entry = toEntry(ctx, used)
        tx.defer(insertEntry(tx, entry))
        if (isMetered) tx.defer(insertTask(tx, id(), meterTask(entry)))
        tx.defer(addToTotals(tx, entry, { day: periodOf('day', entry.at), month: periodOf('month', entry.at) }))
      }
    },

    committed(commit: Pick<Commit, 'additions'>): void {
      for (const used of usedIn(commit)) {
        metrics.used('prompt', used.prompt_tokens)
        metrics.used('completion', used.completion_tokens)
        metrics.spent(toEntry(ctx, used).cost_micros)
      }
    },
  }
}

/** The entry of what was used, with what it costs now. */
function toEntry(ctx: PricedContext, { estimated, ...used }: UsedTokens): EntryRow {
  const { model, price } = modelOf(ctx, used.assistant)
  return { ...used, model, cost_micros: costOf(used, price), estimated: estimated ? 1 : 0 }
}
