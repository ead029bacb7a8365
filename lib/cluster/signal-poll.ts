import { toParams, toWholeSnapshot } from '../live/log/snapshots.ts'
import type { Database } from '../storage/database.ts'
import { findSignals } from './store-signals.ts'

/** With more signals than this, a process checks everything instead. */
const MAX_SIGNALS = 1_000

/** What a look has found. */
export interface PollResult {
  /** Signals may be missing: it is the first look, or too much has happened. */
  isFirst: boolean
  /** The ids of the other processes. */
  others: string[]
  /** Whether this process has its row: not if others took it for dead, or PostgreSQL has crashed. */
  hasOwnRow: boolean
  /** The new signals of others, oldest first. */
  bodies: string[]
}

/** Looks for what other processes have sent since the last look. */
export function createSignalPoll(db: Database, nodeId: string) {
  let at: string | undefined
  let token: string | undefined

  return {
    /** @returns `undefined` if nothing has changed */
    async poll(): Promise<PollResult | undefined> {
      // Before the rows: what is committed in between is found by both looks, and is not new to the second.
      const now = db.dialect === 'sqlite' ? await db.changeToken() : undefined
      if (at !== undefined && now !== undefined && now === token) return undefined
      const signals = await findSignals(db, nodeId, MAX_SIGNALS, at === undefined ? undefined : sinceOf(db, at))
      const isMissing = at === undefined || isNewBegin(db, signals.at, at) || signals.bodies.length === MAX_SIGNALS
      token = now
      at = signals.at
      const { ids, bodies } = signals
      const others = ids.filter((id) => id !== nodeId)
      return { isFirst: isMissing, others, hasOwnRow: ids.includes(nodeId), bodies: isMissing ? [] : bodies }
    },
    /** Call this after this process has changed the rows of others. */
    recount(): void {
      token = undefined
    },
    /** Forgets the last look. */
    forget(): void {
      at = undefined
    },
  }
}

function sinceOf({ dialect }: Database, at: string): string[] {
  return dialect === 'sqlite' ? [at] : toParams(snapshotOf(at))
}

/**
 * Not after it: another server has taken over, or the same one was started again or has recovered from a crash, or the
 * file of signals started again.
 */
function isNewBegin({ dialect }: Database, now: string, last: string): boolean {
  if (dialect === 'sqlite') return Number(now) < Number(last)
  return serverOf(now) !== serverOf(last) || snapshotOf(now).xmax < snapshotOf(last).xmax
}

const snapshotOf = (at: string) => toWholeSnapshot(at.slice(0, at.indexOf(' ')))
const serverOf = (at: string) => at.slice(at.indexOf(' '))
