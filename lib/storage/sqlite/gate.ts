import { retry } from '../../core/scheduling/deadline.ts'
import type { InFlight } from '../calls-in-flight.ts'
import { isBusy } from '../errors.ts'
import type { SqliteConnection } from './connection.ts'
import type { DamageGuard } from './damage.ts'
import { createDiskWaits } from './disk-waits.ts'
import type { SharedReads } from './shared-reads.ts'

/** How long a write waits for another process that holds the lock. SQLite's own wait would block the event loop. */
const LOCK_TIMEOUT_MS = 5_000
const LOCK_RETRY_MS = 10

/**
 * Keeps statements out of a transaction to which they do not belong.
 *
 * A connection has one transaction at a time, so a statement of another request between our BEGIN and COMMIT would
 * join, and roll back with, ours. All other statements wait for the end of the transaction.
 */
export interface Gate {
  /** Runs `step` outside any transaction, at once if possible. */
  outside<T>(step: () => T): Promise<T>
  /**
   * Runs `section` in a transaction, with the gate closed.
   *
   * @param options.durable whether its commit waits for the disk. Default true
   */
  transaction<T>(begin: string, section: () => Promise<T>, options?: { durable: boolean }): Promise<T>
}

/** An open {@link Gate}. */
export function createGate(deps: {
  connection: SqliteConnection
  sharedReads: SharedReads
  guard: DamageGuard
  inFlight: InFlight
}): Gate {
  const { connection, sharedReads, guard, inFlight } = deps
  const diskWaits = createDiskWaits(connection)
  let shut: Promise<void> | undefined

  /** Runs `step` once the gate is open, and again while another process has the lock it needs. */
  function retryWhileLocked<T>(step: () => T): Promise<T> {
    const attempt = async () => {
      while (shut) await shut
      guard.assertUsable()
      return step()
    }
    return retry(attempt, { ms: LOCK_TIMEOUT_MS, pause_ms: LOCK_RETRY_MS, mayPass: isBusy })
  }

  return {
    outside<T>(step: () => T): Promise<T> {
      // Usually there is nothing to wait for, and it is done before any other code runs.
      if (!shut && !inFlight.isClosing()) {
        try {
          guard.assertUsable()
          return Promise.resolve(step())
        } catch (error) {
          if (!isBusy(error)) return Promise.reject(guard.toFailure(error))
        }
      }
      return inFlight.track(() => retryWhileLocked(step)).catch((error) => Promise.reject(guard.toFailure(error)))
    },

    async transaction(begin, section, { durable } = { durable: true }) {
      let open!: () => void
      await retryWhileLocked(() => {
        sharedReads.end()
        diskWaits.begin(begin, durable)
        // Synchronously: a statement in between would join this transaction.
        shut = new Promise<void>((resolve) => (open = resolve))
      })
      try {
        const value = await section()
        connection.prepare('COMMIT').run()
        return value
      } catch (error) {
        if (connection.hasTransaction()) connection.prepare('ROLLBACK').run()
        throw error
      } finally {
        shut = undefined
        open()
        // Callers that wait for the gate continue later.
        diskWaits.ended(durable)
      }
    },
  }
}
