import type { Features } from './api/features.ts'
import type { Config } from './config/parse.ts'
import { withinContext } from './core/context-of.ts'
import { createContext } from './create-context.ts'
import { featuresOf } from './features.ts'
import { createJobs } from './jobs.ts'
import { resumeRemovals } from './ops/removals.ts'
import type { Ports } from './ports.ts'
import { assertImported } from './storage/archive/import.ts'
import type { Storage } from './storage/open.ts'
import { assertMigrated, migrate } from './storage/schema/migrate.ts'
import { assertOurs } from './storage/schema/verify.ts'

/** A conversation service: each use-case as a function, by feature. Failures are `ChatError`s. */
export interface Chat extends Features {
  /**
   * Brings the schema up to date (unless `storage.migrate` is false, when an old one is an error) and starts the
   * work that goes on by itself. Half of an archive is not served, nor are tables that were changed from outside.
   */
  start(options?: StartOptions): Promise<void>
  /** Has `/readyz` say that the service is about to stop, so that balancers look elsewhere; all goes on as before. */
  withdraw(): void
  /**
   * Ends the streams with `draining`, lets no new ones in, begins no answer, and has `/readyz` say so. Calls go on
   * being answered.
   */
  drain(): void
  /** Drains, waits for what is under way, for answers a few seconds, and closes the storage. Nothing is left open. */
  close(): Promise<void>
}

/** What differs from how a service starts. */
export interface StartOptions {
  /** `false` starts nothing that goes on by itself: for a command beside a running service. */
  background?: boolean
  /** `true` takes tables that were changed from outside: for a check that tells of them. */
  changed?: boolean
}

/**
 * Puts a service together. Nothing happens before `start()`: no table is made, no timer runs.
 *
 * @param config from `parseConfig`
 * @param storage from `openStorage`; `close()` closes it
 * @param ports what the host brings of its own
 */
export function createChatService(config: Config, storage: Storage, ports: Ports = {}): Chat {
  const ctx = createContext(config, storage, ports)
  const { db, hub, bus, answers, tasks, metrics, log } = ctx
  const jobs = createJobs(ctx)
  const drain = () => {
    hub.drain()
    answers.drain()
  }
  return withinContext(ctx, {
    ...featuresOf(ctx),
    async start(options: StartOptions = {}) {
      if (!options.changed) await assertOurs(db)
      if (config.storage.migrate) await migrate(db, () => log.info('Still bringing the schema up to date'))
      else await assertMigrated(db)
      await assertImported(db)
      if (options.background === false) return
      bus.start()
      if (!(await jobs.start())) return
      await resumeRemovals(ctx)
      tasks.start()
    },
    withdraw: () => hub.withdraw(),
    drain,
    async close() {
      drain()
      await answers.stop()
      await Promise.all([bus.stop(), jobs.stop(), tasks.stop()])
      metrics.close()
      await storage.close()
    },
  })
}
