import { systemActor } from './accounts/host-identity/system.ts'
import type { Features } from './api/features.ts'
import { storeGenerated } from './chat/attachments/generated.ts'
import { assertEventType } from './chat/feed/rules.ts'
import { endStreams } from './cluster/store-presence.ts'
import { assertParsed } from './config/complete.ts'
import { type Config, ConfigError } from './config/parse.ts'
import type { Reloaded } from './config/reload.ts'
import type { Context } from './context.ts'
import type { Actor, SystemProfile } from './core/actor.ts'
import { withinContext } from './core/context-of.ts'
import { type NamesOf, refuseUnknown } from './core/known-names.ts'
import { assertStarted } from './core/lifecycle.ts'
import type { StartOptions } from './core/start-options.ts'
import { createContext } from './create-context.ts'
import { bindFeatures } from './features.ts'
import { flush, idle } from './host-transaction/settle.ts'
import { createSharedTransactions } from './host-transaction/shared-chat.ts'
import { createJobs } from './jobs.ts'
import type { Listener } from './live/transaction/after-events.ts'
import { createReload } from './ops/reload-state.ts'
import { assertPorts } from './port-kinds.ts'
import { type EventAfter, PORTS, type Ports } from './ports.ts'
import { createStart } from './start.ts'
import { assertStorage, type Storage } from './storage/open.ts'
import type { HostDatabase } from './storage/shared/client.ts'

/** A conversation service: each use-case as a function, by feature. Failures are `ChatError`s. */
export interface Chat extends Features {
  /**
   * Migrates the schema and starts the background jobs. Fails if an import is incomplete, if the tables were modified
   * by others, or, with `storage.migrate` set to false, if the schema is outdated.
   */
  start(options?: StartOptions): Promise<void>
  /**
   * The actor of a part of your application, such as `orders`: a user without a sign-in, the same for a name at every call.
   * It posts with the role `system`, creates conversations without being in them, has an owner's rights in all
   * conversations, and participates in none.
   *
   * @param name lower-case letters, digits, `.`, `_`, `-`; at most 40
   * @param profile what users see of it, stored where it differs; a missing field keeps its value
   * @throws ChatError `validation_failed`
   */
  system(name: string, profile?: SystemProfile): Promise<Actor>
  /**
   * Takes another configuration while the service runs: the keys that can be reloaded, and of those all or none. Calls in
   * progress end as they began.
   *
   * @param config from `parseConfig`
   * @returns the keys that changed, and those that differ but need another start
   * @throws ConfigError when they contradict keys that stay as they are; Error when a package is missing
   */
  reload(config: Config): Promise<Reloaded>
  /**
   * Runs calls of the service in a transaction of your application: your rows and the service's are committed together, or
   * none of them.
   *
   * PostgreSQL: `host` is a client on which you have sent BEGIN. You commit, and then call `flush`. SQLite: `host` is a
   * handle of your own on the same file, and this function begins and commits the transaction; it rolls back when `work`
   * fails.
   *
   * @example
   * await client.query('BEGIN')
   * await client.query('INSERT INTO orders (id) VALUES ($1)', [42])
   * await chat.withTransaction(client, (chat) => chat.messages.postRoot(actor, id, { content: 'Order 42' }))
   * await client.query('COMMIT')
   * await chat.flush()
   *
   * @param work gets the features that can be part of a transaction; it awaits each of its calls
   * @returns what `work` returns
   * @throws Error without an open transaction (PostgreSQL), with one (SQLite), and for another database; ChatError
   *   `unavailable` after a deadlock or a serialization failure, which is not retried
   */
  withTransaction<T>(host: HostDatabase, work: (chat: SharedChat) => Promise<T>): Promise<T>
  /**
   * Calls a function with each event of a type that this process has written, after the commit, at most once: the object that
   * `hooks.afterEvent` gets, after that hook. What the function throws is logged. It has 250 ms before the next event.
   *
   * @example
   * const off = chat.on('message.new', ({ payload }) => console.log(payload.message.content))
   *
   * @returns a function that ends this
   * @throws TypeError for a type that does not exist
   */
  on<T extends EventAfter['type']>(type: T, listener: (event: Extract<EventAfter, { type: T }>) => unknown): () => void
  /** Sends the events of transactions that your application has committed, instead of a moment later. */
  flush(): Promise<void>
  /**
   * Resolves when nothing is in progress: answers, events on their way, tasks that are due, and mails.
   *
   * @throws ChatError `unavailable` after `timeout_ms` milliseconds
   */
  idle(options?: IdleOptions): Promise<void>
  /** Makes `/readyz` fail, so that load balancers choose another server. Everything else continues as before. */
  withdraw(): void
  /**
   * Ends all streams with the reason `draining`, refuses new streams and new answers, and makes `/readyz` fail. Parts of
   * files that have not arrived 5 seconds later are `unavailable`. Other calls still succeed.
   */
  drain(): void
  /**
   * Drains, waits up to `assistant.drain_seconds` for answers, stops the background jobs and closes the storage. No
   * timer or connection stays open. A start that is in progress ends first.
   */
  close(): Promise<void>
}

/** What can be called inside `chat.withTransaction`. */
export type SharedChat = Pick<Features, 'users' | 'conversations' | 'participants' | 'invites' | 'threads' | 'messages'>

/** Options of `chat.idle`. */
export interface IdleOptions {
  /** After this time it rejects. Default: it waits for as long as it takes. */
  timeout_ms?: number
}

const IDLE_OPTIONS: NamesOf<IdleOptions> = { timeout_ms: 0 }

/**
 * Creates a service. Before `start()` it creates no table and runs no timer.
 *
 * @param config from `parseConfig`
 * @param storage from `openStorage`; `close()` closes it
 * @param ports functions of the host, such as its log and its login
 * @throws TypeError for a configuration that `parseConfig` did not return, for no storage, and for a port or a hook that
 *   does not exist, with the nearest right name
 * @throws ConfigError for `auth.jwt` beside `ports.identity`
 */
export function createChatService(config: Config, storage: Storage, ports: Ports = {}): Chat {
  assertParsed(config, 'createChatService')
  assertStorage(storage)
  refuseUnknown('createChatService', ports, PORTS)
  assertPorts(ports)
  if (ports.identity && config.auth.jwt.issuer !== undefined)
    throw new ConfigError([
      { key: 'auth.jwt', message: 'and ports.identity exclude each other: call jwtIdentity there' },
    ])
  const ctx = createContext(config, storage, ports)
  const { cluster, answers, tasks, backups, metrics } = ctx
  const { hub, poller, presence } = ctx.streams
  answers.storeFilesWith((...file) => storeGenerated(ctx, ...file))
  const { partSlots } = ctx.files
  const { afterEvents, notifier } = ctx.host
  const jobs = createJobs(ctx)
  const { start, started, leave } = createStart(ctx, jobs)
  let streamsEnded: Promise<void> | undefined
  const { withTransaction, pending } = createSharedTransactions(ctx)
  const { lifecycle } = ctx
  const drain = () => {
    hub.drain()
    streamsEnded ??= endOwnStreams(ctx)
    answers.drain()
    ctx.webhooks.drain()
    partSlots.drain()
  }
  return withinContext(ctx, {
    ...bindFeatures(ctx),
    start,
    async system(name, profile) {
      assertStarted(ctx)
      return systemActor(ctx, name, profile)
    },
    reload: createReload(ctx),
    withTransaction,
    on: (type, listener) => afterEvents.on(assertEventType(type, listener), listener as Listener),
    flush: () => flush(ctx, pending),
    async idle(options = {}) {
      refuseUnknown('chat.idle', options, IDLE_OPTIONS)
      await idle(ctx, pending, options.timeout_ms)
    },
    withdraw: () => hub.withdraw(),
    drain,
    async close() {
      drain()
      // Otherwise it would begin what is stopped here already, and nothing would stop that.
      await started()
      backups.stop()
      pending.close()
      leave()
      await answers.stop()
      await ctx.webhooks.close()
      await Promise.all([
        poller.stop(),
        jobs.stop(),
        tasks.stop(),
        streamsEnded,
        presence.close(),
        ctx.streams.users.close(),
        ctx.streams.receipts.close(),
        ctx.search.close(),
      ])
      await cluster.stop()
      // A storage that fails now has its note of some minutes ago.
      await ctx.ops.clockKeeper.end().catch(() => {})
      await Promise.all([afterEvents.close(), notifier.close()])
      partSlots.close()
      ctx.outgoing.close()
      await ctx.files.close()
      metrics.close()
      lifecycle.state = 'closed'
      await storage.close()
    },
  })
}

/** The streams of this process no longer count for the limits of users; after a failure they do until it has stopped. */
async function endOwnStreams({ cluster }: Context): Promise<void> {
  // A command beside the service has none.
  if (cluster.isShared && cluster.startedAt() !== undefined) await endStreams(cluster.db, cluster.id).catch(() => {})
}
