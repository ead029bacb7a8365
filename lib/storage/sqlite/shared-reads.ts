import type { SqliteConnection } from './connection.ts'
import type { DamageGuard } from './damage.ts'

/**
 * A read transaction that the reads of one turn of the event loop share: otherwise each would lock and unlock the file.
 */
export interface SharedReads {
  /**
   * Opens it, unless it is open; it ends by itself after this turn.
   *
   * @returns its number: reads of the same one see the same state of the database
   */
  begin(): number
  /** Ends it, if it is open. */
  end(): void
}

/** Makes the transaction that reads share, not open yet. */
export function createSharedReads({ prepare, hasTransaction }: SqliteConnection, guard: DamageGuard): SharedReads {
  let ending: NodeJS.Immediate | undefined
  let opened = 0

  function end(): void {
    if (!ending) return
    clearImmediate(ending)
    ending = undefined
    try {
      if (hasTransaction()) prepare('COMMIT').run()
    } catch (error) {
      // After an error COMMIT fails too, and the transaction has ended anyway. The reads have returned by now.
      guard.toFailure(error)
    }
  }

  return {
    begin() {
      if (ending) return opened
      prepare('BEGIN').run()
      ending = setImmediate(end)
      return ++opened
    },
    end,
  }
}
