import * as accounts from './accounts/administration/change.ts'
import * as lockdowns from './accounts/administration/lockdown.ts'
import * as keys from './accounts/api-keys/service.ts'
import * as audit from './accounts/audit/service.ts'
import { insertAuditEntry } from './accounts/audit/store.ts'
import * as callers from './accounts/authentication/service.ts'
import * as emails from './accounts/email-addresses/service.ts'
import * as ownIdentities from './accounts/identities/own.ts'
import { createProvider } from './accounts/oauth/provider.ts'
import * as oauth from './accounts/oauth/service.ts'
import * as resets from './accounts/password-resets/service.ts'
import { createPasswords } from './accounts/passwords/hash.ts'
import { createAttempts } from './accounts/passwords/throttle.ts'
import * as account from './accounts/profile/service.ts'
import * as sessions from './accounts/sessions/admin.ts'
import * as confirmation from './accounts/sessions/confirmation.ts'
import * as ownSessions from './accounts/sessions/own.ts'
import * as auth from './accounts/sessions/service.ts'
import * as setup from './accounts/setup/service.ts'
import * as users from './accounts/users/service.ts'
import { createAssistant } from './assistant/create.ts'
import { createRunner } from './assistant/runner.ts'
import * as assistant from './chat/answers/service.ts'
import * as people from './chat/conversations/people.ts'
import { removeConversation } from './chat/conversations/removal.ts'
import * as conversations from './chat/conversations/service.ts'
import * as events from './chat/events/service.ts'
import { createStreamSources } from './chat/events/sources.ts'
import { revokeInvitesOf } from './chat/invites/revocation.ts'
import * as invites from './chat/invites/service.ts'
import * as changes from './chat/messages/changes.ts'
import * as messages from './chat/messages/service.ts'
import * as participants from './chat/participants/service.ts'
import * as presence from './chat/presence/service.ts'
import { createPresenceWatch } from './chat/presence/watch.ts'
import * as threads from './chat/threads/service.ts'
import { oauthProviders } from './config/oauth.ts'
import type { Config } from './config/parse.ts'
import type { Context, Log, Ports } from './context.ts'
import { causeText } from './core/errors.ts'
import { newId } from './core/ids.ts'
import { currentMicros } from './core/time.ts'
import { bind } from './core/use-case.ts'
import * as erasure from './erasure/service.ts'
import { createAuthFailures } from './limits/auth-failures.ts'
import { createLimiter } from './limits/limiter.ts'
import * as limits from './limits/service.ts'
import { createHub } from './live/hub.ts'
import { createBus } from './live/poller.ts'
import { createWrite } from './live/transaction.ts'
import { createMetrics } from './metrics/registry.ts'
import * as compat from './openai-api/service.ts'
import * as checks from './ops/fsck.ts'
import * as probes from './ops/probe.ts'
import { purge } from './ops/purge.ts'
import { createReadiness } from './ops/readiness.ts'
import { resumeRemovals } from './ops/removals.ts'
import * as retention from './ops/retention.ts'
import * as ops from './ops/service.ts'
import { checkWal } from './ops/wal.ts'
import { assertImported } from './storage/archive/import.ts'
import type { Storage } from './storage/open.ts'
import { assertMigrated, migrate } from './storage/schema/migrate.ts'
import { assertOurs } from './storage/schema/verify.ts'
import { createTaskWorker } from './tasks/runner.ts'
import { TASK_KINDS } from './tasks/schema.ts'
import * as taskList from './tasks/service.ts'
import * as wellKnown from './well-known/service.ts'

/** A conversation service: each use-case as a function, the actor first. Failures are `ChatError`s. */
export type Chat = ReturnType<typeof createChatService>

/** How soon others learn that somebody is no longer there. */
const PRESENCE_SWEEP_MS = 5_000

/** How often what is kept no longer is deleted, and the size of the WAL looked at. */
const TIDY_MS = 60_000

/** How often leases of answers are renewed and lapsed ones looked for: with the lease well under fifteen seconds. */
const TEND_MS = 2_000

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
  const metrics = createMetrics(db.dialect, TASK_KINDS)
  const hub = createHub({ db, config, log, metrics, now, sources: createStreamSources(db, now) })
  const presenceWatch = createPresenceWatch({ db, kv, hub, log, now })
  hub.onStreams((userId) => void presenceWatch.streamsChanged(userId))
  const bus = createBus(db, hub, log)
  const passwords = createPasswords(config.security.password.bcrypt_cost)
  const providers = new Map(oauthProviders(config).map((each) => [each.name, createProvider(each, { log, now })]))
  const id = ports.id ?? newId
  const write = createWrite({ db, hub, metrics, log, now, id, insertAuditEntry, onTasks: () => tasks.wake() })
  const provider = ports.assistant ?? createAssistant(config.assistant)
  const answers = createRunner({ config, db, write, metrics, log, now, provider })
  const tasks = createTaskWorker({
    db,
    metrics,
    log,
    handlers: {
      'conversation.remove': (run) => removeConversation(ctx, run),
      'user.erase': (run) => erasure.goOn(ctx, run),
      'storage.purge': (run) => purge(ctx, run),
    },
  })
  const ctx: Context = {
    config,
    db,
    kv,
    hub,
    bus,
    metrics,
    readiness: createReadiness({ db, bus, hub, log }),
    passwords,
    providers,
    attempts: createAttempts(db, now),
    limiter: createLimiter({ config, db, now }),
    authFailures: createAuthFailures(config.rate_limits.auth_failures_per_ip_per_min, now),
    presence: presenceWatch,
    answers,
    tasks,
    ...(ports.identity && { identity: ports.identity }),
    ...(ports.mail && { mail: ports.mail }),
    log,
    now,
    id,
    write,
    revokeInvites: (tx, made, by) => revokeInvitesOf({ now }, tx, made, by),
  }
  const timers: NodeJS.Timeout[] = []

  /** Work that goes on by itself, whatever happens: that it fails is told once, until it works again. */
  const steadily = (complaint: string, work: () => Promise<unknown>) => {
    let failing = false
    return async () => {
      try {
        await work()
        failing = false
      } catch (error) {
        if (!failing) log.warn(complaint, { cause: causeText(error) })
        failing = true
      }
    }
  }
  const sweepPresence = steadily('Presence could not be kept', presenceWatch.sweep)
  const tendAnswers = steadily('Answers could not be looked after', answers.tend)
  const pruneOnce = steadily('What is kept no longer could not be deleted', () => retention.prune(ctx))

  let pruning: Promise<unknown> | undefined
  const prune = () => {
    pruning ??= pruneOnce().finally(() => (pruning = undefined))
  }

  return {
    setup: bind(ctx, setup, ['status', 'assertOpen', 'run', 'runFrom']),
    users: {
      ...bind(ctx, users, ['create', 'list', 'find', 'search', 'actor']),
      ...bind(ctx, accounts, ['change']),
      ...bind(ctx, erasure, ['erase']),
      ...bind(ctx, lockdowns, ['lockDown']),
    },
    sessions: bind(ctx, sessions, ['list', 'revoke']),
    audit: bind(ctx, audit, ['list']),
    tasks: bind(ctx, taskList, ['list']),
    auth: {
      ...bind(ctx, auth, ['login', 'refresh', 'logout', 'me']),
      ...bind(ctx, callers, ['recognise', 'authenticate']),
      ...bind(ctx, account, ['changePassword', 'changeProfile']),
      ...bind(ctx, confirmation, ['confirm']),
      ...bind(ctx, ownSessions, ['listSessions', 'revokeSession']),
    },
    resets: bind(ctx, resets, ['request', 'issue', 'redeem']),
    emails: bind(ctx, emails, ['sendVerification', 'verify']),
    keys: bind(ctx, keys, ['create', 'list', 'revoke']),
    identities: bind(ctx, ownIdentities, ['list', 'remove']),
    oauth: bind(ctx, oauth, ['begin', 'finish', 'exchangeCode']),
    conversations: bind(ctx, conversations, ['create', 'list', 'get', 'rename', 'remove']),
    participants: {
      ...bind(ctx, people, ['list']),
      ...bind(ctx, participants, ['add', 'changeRole', 'remove']),
    },
    invites: bind(ctx, invites, ['create', 'list', 'accept', 'revoke', 'revokeById']),
    threads: bind(ctx, threads, ['list', 'tree', 'unread', 'markRead']),
    messages: {
      ...bind(ctx, messages, ['postRoot', 'reply', 'get', 'listRevisions']),
      ...bind(ctx, changes, ['edit', 'remove', 'restore']),
    },
    answers: bind(ctx, assistant, ['cancel', 'listChunks']),
    presence: bind(ctx, presence, ['sendHeartbeat', 'setTyping']),
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
    ops: {
      ...bind(ctx, ops, ['health', 'readiness', 'metrics']),
      ...bind(ctx, retention, ['prune']),
      ...bind(ctx, checks, ['fsck']),
      ...bind(ctx, probes, ['probe']),
    },
    wellKnown: bind(ctx, wellKnown, ['get']),
    openai: bind(ctx, compat, ['listModels', 'complete']),

    /** @internal For the HTTP adapter. */
    context: ctx,

    /**
     * Brings the schema up to date (unless `storage.migrate` is false, when an old one is an error) and starts the
     * work that goes on by itself. Half of an archive is not served, nor are tables that were changed from outside.
     *
     * @param options.background false starts nothing that goes on: for a command beside a running service
     * @param options.changed true takes tables that were changed from outside: for a check that tells of them
     */
    async start(options: { background?: boolean; changed?: boolean } = {}): Promise<void> {
      if (!options.changed) await assertOurs(db)
      if (config.storage.migrate) await migrate(db, () => log.info('Still bringing the schema up to date'))
      else await assertMigrated(db)
      await assertImported(db)
      if (options.background === false) return
      bus.start()
      if (timers.length > 0) return
      timers.push(setInterval(() => hub.beat(), config.sse.heartbeat_seconds * 1000).unref())
      timers.push(setInterval(() => void sweepPresence(), PRESENCE_SWEEP_MS).unref())
      timers.push(setInterval(() => void tendAnswers(), TEND_MS).unref())
      timers.push(setInterval(prune, TIDY_MS).unref())
      // Whether the storage is in trouble, its users say.
      timers.push(setInterval(() => void checkWal(ctx).catch(() => {}), TIDY_MS).unref())
      await tendAnswers()
      await resumeRemovals(ctx)
      tasks.start()
    },

    /** Has `/readyz` say that the service is about to stop, so that balancers look elsewhere; all goes on as before. */
    withdraw(): void {
      hub.withdraw()
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
      await Promise.all([bus.stop(), pruning, tasks.stop()])
      metrics.close()
      await storage.close()
    },
  }
}
