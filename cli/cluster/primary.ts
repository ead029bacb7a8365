import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Config } from '../../lib/config/parse.ts'
import { planReload } from '../../lib/config/reload.ts'
import type { Log } from '../../lib/context.ts'
import { listen } from '../../lib/http/node/listen.ts'
import { attempt, type ReloadFlags, readAgain } from '../config/watch.ts'
import type { Logger } from '../logging/logger.ts'
import { asWorkerConfig } from './messages.ts'
import { openService } from './node.ts'
import { createWorkerPool, type WorkerPool } from './pool.ts'

/** The workers of a service, ready to start. */
export interface Workers {
  pool: WorkerPool
  is_setup: boolean
  /** Reads the configuration again, here and in all workers. */
  reload(): Promise<unknown>
}

interface Primary {
  config: Config
  log: Logger
  flags: ReloadFlags
  /** Changes what was read. */
  adapt: (config: Config) => Config
}

/**
 * Prepares the workers of a service. The schema is migrated here, once, before any of them starts.
 *
 * @throws Error when the database cannot be used, or no port is free
 */
export async function prepareWorkers({ config, log, flags, adapt }: Primary): Promise<Workers> {
  if (!cluster.isPrimary)
    throw new Error('cluster.workers must be 1 in a process that is itself a worker of node:cluster')
  const is_setup = await prepareDatabase(config, log)
  const port = config.server.port || (await findFreePort(config.server.host))
  let current = asWorkerConfig(config, port)
  const pool = createWorkerPool({
    workers: config.cluster.workers,
    config: () => current,
    log,
    // For the workers that start later, and for the log of this process. A configuration that no worker can use, such as
    // one that needs a missing package, is not taken.
    onReload(inEffect) {
      current = inEffect
      log.setLevel(inEffect.log.level)
    },
  })
  // Asked to end at once. If this process fails or is killed instead, its workers notice it and drain.
  process.once('exit', (code) => code === 1 || pool.signal('SIGKILL'))
  return {
    pool,
    is_setup,
    reload: () =>
      // An unusable file is reported once, not by each worker, and all of them get the same configuration.
      attempt(log, async () => {
        const { next, ...plan } = planReload(current, asWorkerConfig(adapt(readAgain(flags, log)), port))
        pool.reload(next)
        return plan
      }),
  }
}

async function prepareDatabase(config: Config, log: Log): Promise<boolean> {
  const chat = await openService(config, log)
  try {
    await chat.start({ background: false })
    return (await chat.setup.get()).is_setup
  } finally {
    await chat.close()
  }
}

/** For all workers the same, also for one that starts later. */
async function findFreePort(host: string): Promise<number> {
  const server = await listen(() => {}, { host, port: 0 })
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}
