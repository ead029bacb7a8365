import type { Features } from './api/features.ts'
import type { Neighbour } from './cluster/cluster.ts'
import type { Config } from './config/parse.ts'
import type { Reloaded } from './config/reload.ts'
import type { Context } from './context.ts'
import { withinContext } from './core/context-of.ts'
import { createContext } from './create-context.ts'
import { featuresOf } from './features.ts'
import { createJobs } from './jobs.ts'
import { createReload } from './ops/reload.ts'
import { resumeRemovals } from './ops/removals.ts'
import type { Ports } from './ports.ts'
import { assertImported } from './storage/archive/import.ts'
import type { Storage } from './storage/open.ts'
import { assertMigrated, listMigrations, migrate, SCHEMA_VERSION } from './storage/schema/migrate.ts'
import { assertOurs } from './storage/schema/verify.ts'

/** A conversation service: each use-case as a function, by feature. Failures are `ChatError`s. */
export interface Chat extends Features {
  /**
   * Migrates the schema and starts the background jobs. Fails if an import is incomplete, if the tables were modified
   * by others, or, with `storage.migrate` set to false, if the schema is outdated.
   */
  start(options?: StartOptions): Promise<void>
  /**
   * Takes another configuration while the service runs: the keys that can be reloaded, and of those all or none. Calls in
   * progress end as they began.
   *
   * @param config from `parseConfig`
   * @returns the keys that changed, and those that differ but need another start
   * @throws ConfigError when they contradict keys that stay as they are; Error when a package is missing
   */
  reload(config: Config): Promise<Reloaded>
  /** Makes `/readyz` fail, so that load balancers choose another server. Everything else continues as before. */
  withdraw(): void
  /**
   * Ends all streams with the reason `draining`, refuses new streams and new answers, and makes `/readyz` fail. Other
   * calls still succeed.
   */
  drain(): void
  /**
   * Drains, waits up to `assistant.drain_seconds` for answers, stops the background jobs and closes the storage. No
   * timer or connection stays open.
   */
  close(): Promise<void>
}

/** Options of `chat.start`. */
export interface StartOptions {
  /** `false` starts no background jobs: for a command beside a running service. */
  background?: boolean
  /** `true` accepts tables that were modified by others: for a check that reports them. */
  changed?: boolean
}

/**
 * Creates a service. Before `start()` it creates no table and runs no timer.
 *
 * @param config from `parseConfig`
 * @param storage from `openStorage`; `close()` closes it
 * @param ports functions of the host, such as its log and its login
 */
export function createChatService(config: Config, storage: Storage, ports: Ports = {}): Chat {
  const ctx = createContext(config, storage, ports)
  const { db, hub, poller, cluster, answers, tasks, backups, presence, metrics } = ctx
  const jobs = createJobs(ctx)
  const drain = () => {
    hub.drain()
    answers.drain()
  }
  return withinContext(ctx, {
    ...featuresOf(ctx),
    async start(options: StartOptions = {}) {
      if (!options.changed) await assertOurs(db)
      if (ctx.config.storage.migrate) await migrateLogged(ctx)
      else await assertMigrated(db)
      await assertImported(db)
      if (options.background === false) return
      await ctx.outbox?.load()
      poller.start()
      if (!(await jobs.start())) return
      await cluster.start(neighbourOf(ctx))
      await resumeRemovals(ctx)
      tasks.start()
    },
    reload: createReload(ctx),
    withdraw: () => hub.withdraw(),
    drain,
    async close() {
      drain()
      backups.stop()
      await answers.stop()
      await Promise.all([poller.stop(), jobs.stop(), tasks.stop(), presence.close()])
      await cluster.stop()
      metrics.close()
      await storage.close()
    },
  })
}

/** A new database has no steps worth a line each. */
async function migrateLogged({ db, log }: Context): Promise<void> {
  const isNew = (await listMigrations(db)).every((step) => !step.applied_at)
  const applied = await migrate(db, {
    onLong: () => log.info('Still migrating the schema'),
    onStep: (migration) => isNew || log.info('Migrated the schema', { migration }),
  })
  if (isNew && applied.length > 0) log.info(`Created the schema ${SCHEMA_VERSION} in an empty database`)
}

/** What this process does with the news of others. */
function neighbourOf({ hub, poller, presence }: Context): Neighbour {
  return {
    countStreams: hub.size,
    async receive(events) {
      if (hub.isIdle()) return
      // The events of the log come first: an ephemeral event may refer to one of them. A poll in progress may be older.
      await poller.poll.current()
      await poller.poll()
      hub.receive(events)
    },
    reconsider: presence.reconsider,
    async renew() {
      await hub.rights.recheckAll()
      await presence.renew()
    },
  }
}
