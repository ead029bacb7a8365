import type { Config } from '../config/parse.ts'
import type { Bus, Log } from '../context.ts'
import type { Ephemeral } from '../live/transaction/transaction.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import { createBusLink } from './bus.ts'
import { createOutbox, type Signal, type SignalText } from './signals.ts'
import { insertSignal } from './store-signals.ts'

/** What signals need. */
export interface PublisherDeps {
  db: Database
  /** A message bus of the host, which is faster. */
  bus?: Bus | undefined
  /** Whether an event of a message on the bus is one. */
  isEphemeral: (event: unknown) => boolean
  config: Config
  log: Log
  metrics: Metrics
}

/** What a process sends to the others. */
export type Publisher = ReturnType<typeof createPublisher>

/**
 * Passes signals on to the other processes: through the database, and on the bus if the host has one.
 *
 * @param id the id of this process
 * @param receiver knows the other processes
 */
export function createPublisher(
  id: string,
  receiver: { isSingleNode: () => boolean; isNode: (id: string) => boolean },
  deps: PublisherDeps,
) {
  const outbox = createOutbox({
    gather_ms: deps.config.cluster.signal_ms,
    onDropped: deps.metrics.signalsDropped,
    send: createSend(id, deps),
  })
  const { isNode } = receiver
  const bus = deps.bus && createBusLink({ ...deps, bus: deps.bus, id, isNode, store: outbox.addEvents })

  return {
    /** Passes ephemeral events on; without any, something was committed. Costs nothing alone. */
    announce(events: readonly Ephemeral[]): void {
      if (receiver.isSingleNode()) return
      if (bus) bus.announce(events)
      else if (events.length > 0) outbox.addEvents(events)
    },

    /** Tells the others that the presence of these users has changed. */
    announceUsers(userIds: readonly string[]): void {
      if (receiver.isSingleNode()) return
      // In the database too: a message on the bus may be lost, and then they would stay as they were.
      outbox.addUsers(userIds)
      bus?.addUsers(userIds)
    },

    /** Subscribes to the bus. */
    start: (handle: (signal: Signal) => Promise<void>): void => bus?.start(handle),
    /** Subscribes again if that has failed. */
    retry: (): void => bus?.subscribe(),
    /** The bus first: what it does not take goes through the database. */
    async flush(): Promise<void> {
      await bus?.flush()
      await outbox.flush()
    },
    async close(): Promise<void> {
      await bus?.close()
      await outbox.close()
    },
  }
}

/** How signals are stored, and counted. */
function createSend(id: string, { db, metrics }: PublisherDeps) {
  return async ({ body, count }: SignalText): Promise<boolean> => {
    try {
      await insertSignal(db, id, body)
      metrics.signalsSent(count)
      return true
    } catch {
      metrics.signalsDropped(count)
      return false
    }
  }
}
