import { createAssistant } from './assistant/create.ts'
import { createRunner } from './assistant/runner.ts'
import * as assistant from './assistant/service.ts'
import { createAttempts } from './auth/attempts.ts'
import { createPasswords } from './auth/passwords.ts'
import * as auth from './auth/service.ts'
import { bind } from './bind.ts'
import * as compat from './compat/service.ts'
import type { Config } from './config.ts'
import type { Context, Log, Ports } from './context.ts'
import * as participants from './conversations/participants.ts'
import * as conversations from './conversations/service.ts'
import { createBus } from './events/bus.ts'
import { createHub } from './events/hub.ts'
import * as events from './events/service.ts'
import { createWrite } from './events/write.ts'
import { currentMicros, newId } from './ids.ts'
import * as invites from './invites/service.ts'
import { createLimiter } from './limits/limiter.ts'
import { prune } from './limits/prune.ts'
import * as limits from './limits/service.ts'
import * as changes from './messages/changes.ts'
import * as messages from './messages/service.ts'
import { createMetrics } from './ops/metrics.ts'
import * as ops from './ops/service.ts'
import * as presence from './presence/service.ts'
import { createPresenceWatch } from './presence/watch.ts'
import * as setup from './setup/service.ts'
import { assertMigrated, migrate } from './storage/migrate.ts'
import type { Storage } from './storage/open.ts'
import * as threads from './threads/service.ts'
import * as users from './users/service.ts'

/** A conversation service: each use-case as a function, the actor first. Failures are `ChatError`s. */
export type Chat = ReturnType<typeof createChatService>

/** How soon others learn that somebody is no longer there. */
const PRESENCE_SWEEP_MS = 5_000

/** How often leases of answers are renewed and lapsed ones looked for: with the lease well under fifteen seconds. */
const TEND_MS = 3_000

/** How often what has been counted and says nothing any more is cleared away. */
const PRUNE_MS = 60_000

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * Puts a service together. Nothing happens before `start()`: no table is made, no timer runs.
 *
 * @param config from `parseConfig`
 * @param storage from `openStorage`; `close()` closes it
 * @param ports what the host brings of its own
 */
export function createChatService(config: Config, storage: Storage, ports: Ports = {}) {
  const { db, kv } = storage
  const log = ports.log ?? SILENT
  const now = ports.now ?? currentMicros
  const metrics = createMetrics()
  const hub = createHub({ db, config, log, metrics, now })
  const presenceWatch = createPresenceWatch({ db, kv, hub, log, now })
  hub.onStreams((userId) => void presenceWatch.streamsChanged(userId))
  const bus = createBus(db, hub, log)
  const passwords = createPasswords(config.security.password.bcrypt_cost)
  const id = ports.id ?? newId
  const write = createWrite({ db, hub, metrics, log, now, id })
  const provider = ports.assistant ?? createAssistant(config.assistant)
  const answers = createRunner({ config, db, write, metrics, log, now, provider })
  const ctx: Context = {
    config,
    db,
    kv,
    hub,
    bus,
    metrics,
    passwords,
    attempts: createAttempts(db, now),
    limiter: createLimiter({ config, db, now }),
    presence: presenceWatch,
    answers,
    log,
    now,
    id,
    write,
  }
  const timers: NodeJS.Timeout[] = []

  const sweepPresence = () =>
    presenceWatch.sweep().catch((error) => log.warn('Presence could not be kept', { cause: String(error) }))

  const tendAnswers = () =>
    answers.tend().catch((error) => log.warn('Answers could not be looked after', { cause: String(error) }))

  const pruneLimits = () =>
    prune(ctx).catch((error) => log.warn('What was counted could not be cleared away', { cause: String(error) }))

  return {
    setup: bind(ctx, setup, ['status', 'assertOpen', 'run']),
    users: bind(ctx, users, ['create', 'list', 'search', 'actor']),
    auth: bind(ctx, auth, ['login', 'refresh', 'logout', 'me', 'resume', 'authenticate']),
    conversations: {
      ...bind(ctx, conversations, ['create', 'list', 'get', 'rename', 'remove']),
      ...bind(ctx, participants, ['addParticipant', 'changeRole', 'removeParticipant']),
    },
    invites: bind(ctx, invites, ['create', 'list', 'accept', 'revoke']),
    threads: bind(ctx, threads, ['list', 'tree', 'unread', 'markRead']),
    messages: {
      ...bind(ctx, messages, ['postRoot', 'reply', 'get', 'revisions']),
      ...bind(ctx, changes, ['edit', 'remove', 'restore']),
    },
    assistant: bind(ctx, assistant, ['cancel', 'chunks']),
    presence: bind(ctx, presence, ['heartbeat', 'type']),
    limits: bind(ctx, limits, [
      'listProfiles',
      'createProfile',
      'updateProfile',
      'deleteProfile',
      'listAssignments',
      'createAssignment',
      'deleteAssignment',
    ]),
    events: bind(ctx, events, ['open', 'openAll', 'follow', 'followAll']),
    ops: bind(ctx, ops, ['health', 'ready', 'metrics']),
    compat: bind(ctx, compat, ['models', 'complete']),

    /** @internal For the HTTP adapter. */
    context: ctx,

    /**
     * Brings the schema up to date (unless `storage.migrate` is false, when an old one is an error) and starts the
     * work that goes on by itself.
     *
     * @param options.background false starts nothing that goes on: for a command beside a running service
     */
    async start(options: { background?: boolean } = {}): Promise<void> {
      if (config.storage.migrate) await migrate(db)
      else await assertMigrated(db)
      if (options.background === false) return
      bus.start()
      if (timers.length > 0) return
      timers.push(setInterval(() => hub.beat(), config.sse.heartbeat_seconds * 1000).unref())
      timers.push(setInterval(() => void sweepPresence(), PRESENCE_SWEEP_MS).unref())
      timers.push(setInterval(() => void tendAnswers(), TEND_MS).unref())
      timers.push(setInterval(() => void pruneLimits(), PRUNE_MS).unref())
      await tendAnswers()
    },

    /**
     * Ends the streams with `draining`, lets no new ones in, begins no answer, and has `/readyz` say so. Calls go on
     * being answered.
     */
    drain(): void {
      hub.drain()
      answers.drain()
    },

    /** Drains, waits for what is under way, for answers a few seconds, and closes the storage. Nothing is left open. */
    async close(): Promise<void> {
      hub.drain()
      answers.drain()
      await answers.stop()
      for (const timer of timers.splice(0)) clearInterval(timer)
      await bus.stop()
      metrics.close()
      await storage.close()
    },
  }
}
